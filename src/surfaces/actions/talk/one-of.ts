import {nearest} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';

/** How many names a message lists. */
const LISTED = 8;

/** Resolves a full name or a unique part. `what`: "session", "agent". */
export function oneOf(what: string, wanted: string, known: readonly string[], otherwise: string): string {
  const name = wanted.replace(/^@/, '');
  if (known.includes(name)) return name;
  const found = name === '' ? [] : [...new Set(known.filter(one => one.includes(name)))];
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only !== undefined) {
    const more = found.length > LISTED ? `, and ${found.length - LISTED} more` : '';
    throw new UserError(
      `"${wanted}" is ambiguous: ${found.slice(0, LISTED).join(', ')}${more}`,
      exit.usage,
      'use more of the id',
    );
  }
  const near = nearest(name, known);
  throw new UserError(`no ${what} "${wanted}"`, exit.usage, near ? `did you mean ${near}?` : otherwise);
}
