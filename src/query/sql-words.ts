import {nearest} from '../formats/common/diagnostic.ts';
import {columnsOf, tableNames} from './tables.ts';

const schema = tableNames.map(name => `${name}(${columnsOf[name].join(', ')})`).join('; ');
const columns = [...new Set(tableNames.flatMap(name => columnsOf[name]))];

/** What to do about something that SQLite says. */
export function hintFor(error: string): string | undefined {
  const [, what, name = ''] = /^no such (table|column): (.*)$/s.exec(error) ?? [];
  if (what === undefined) return undefined;
  const word = name.slice(name.lastIndexOf('.') + 1);
  const near = nearest(word.toLowerCase(), what === 'table' ? tableNames : columns);
  if (what === 'table') return `${near ? `did you mean ${near}? ` : ''}There are ${tableNames.join(', ')}`;
  return `${near ? `did you mean ${near}? ` : ''}There are ${schema}. Other fields of tasks: fields ->> 'name'`;
}
