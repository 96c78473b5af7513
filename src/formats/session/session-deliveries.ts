import {parseSession} from './session.ts';

const KEY = 'delivery:';
const PLAIN = /^[\w/=][\w/=%@#.:+-]*$/;

/**
 * What was delivered into a session, by id. As the daemon writes it, that is a line of its own where the keys of messages stand, and is
 * found without parsing the file. What people outside wrote is in these files, too: if such words stand elsewhere, the file is parsed.
 */
export function deliveriesIn(text: string): string[] {
  const ids: string[] = [];
  const [, item] = /^messages:[^\S\n]*\r?\n(?:\s*#.*\n)*( *- +)\S/m.exec(text) ?? [];
  const before = `\n${' '.repeat(item?.length ?? 0)}`;
  for (let at = text.indexOf(KEY); at !== -1; at = text.indexOf(KEY, at + KEY.length)) {
    const end = text.indexOf('\n', at);
    const id = text.slice(at + KEY.length, end === -1 ? undefined : end).trim();
    if (item === undefined || !text.endsWith(before, at) || !PLAIN.test(id))
      return parseSession(text).messages.flatMap(({delivery}) => delivery ?? []);
    ids.push(id);
  }
  return ids;
}
