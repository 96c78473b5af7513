import {startsWithText} from '../common/lines.ts';
import {isMap} from '../common/values.ts';
import {cutText} from '../session/session.ts';
import {readYaml} from '../yaml/yaml-source.ts';
import {messagesOf} from './merge-lasting.ts';

/** Rewording a message changes two lines; saving an older buffer changes at least one more. */
const LEAST = 3;

/**
 * Whether a person's save `now` may be based on a session before somebody reworded a message of `before`. Compares
 * lines only, so any larger edit may give true.
 */
export function mayLackMessageWords(before: string, now: string): boolean {
  // The usual case: all messages are unchanged; the header may differ.
  if (startsWithText(messagesOf(now), messagesOf(before))) return false;
  const left = new Map<string, number>();
  const add = (line: string, by: number) => left.set(line, (left.get(line) ?? 0) + by);
  for (const line of before.split('\n')) add(line, 1);
  for (const line of now.split('\n')) add(line, -1);
  let [gone, changed] = [0, 0];
  for (const count of left.values()) {
    gone += Math.max(0, count);
    changed += Math.abs(count);
  }
  return gone > 0 && changed >= LEAST;
}

/**
 * Apply rewordings of user messages in `last` to the person's text, which was made from `base`; the person's own
 * rewordings win. Merges nothing else, so `last` must differ from `base` only by people's edits.
 */
export function keepMessageWords(base: string, person: string, last: string): string {
  const [b, p, l] = [cutText(base), cutText(person), cutText(last)];
  if (!b || !p || !l || b.items.length !== l.items.length) return person;
  const items = [...p.items];
  for (const [i, was] of b.items.entries()) {
    const now = l.items[i] as string;
    if (now === was || !isUsers(was) || !isUsers(now)) continue;
    // Identical messages are ambiguous.
    const found = items.indexOf(was);
    if (found !== -1 && items.lastIndexOf(was) === found) items[found] = now;
  }
  return p.head + items.join('') + p.foot;
}

function isUsers(item: string): boolean {
  const {value, problems} = readYaml(item);
  const message = Array.isArray(value) ? value[0] : undefined;
  return problems.length === 0 && isMap(message) && message.role === 'user';
}
