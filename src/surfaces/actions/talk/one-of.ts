import {isBudgetId} from '../../../formats/approval/approval-state.ts';
import {nearest} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';

/** How many names a message lists. */
const LISTED = 8;

/**
 * What a part of an id can mean to a command that only shows things. A request to exceed a limit is named after what reached it
 * (`budget-SESSION-SINCE-turns-2`), so a part of the session's id means the session, and a part of the request's id the last request.
 */
export function withoutOldBudgets(wanted: string, known: readonly string[]): readonly string[] {
  const found = known.filter(id => id.includes(wanted));
  if (known.includes(wanted) || found.length < 2) return known;
  const others = found.filter(id => !isBudgetId(id));
  if (others.length > 0) return others;
  const last = new Map<string, {id: string; number: number}>();
  for (const id of found) {
    const [, limit = '', digits] = /^(.*?)(\d+)$/.exec(id) ?? [];
    const number = Number(digits);
    if (number > (last.get(limit)?.number ?? 0)) last.set(limit, {id, number});
  }
  return [...last.values()].map(({id}) => id);
}

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
