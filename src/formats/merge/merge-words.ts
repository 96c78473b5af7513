import {startsWithText} from '../common/lines.ts';
import {cutText} from '../session/session.ts';
import {readYaml} from '../yaml/yaml-source.ts';
import {isMap} from './merge-values.ts';

/** A message in other words is two lines that differ; whoever saves an older buffer has changed at least one more. */
const LEAST = 3;

/**
 * Whether `now`, which a person saved, may be from a session before somebody put a message of `before` in other words. Looks
 * at lines alone, so it may say yes to any larger edit.
 */
export function mayLackMessageWords(before: string, now: string): boolean {
  // All messages are there as they were: the usual case, also where the header says something else.
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

/** From the messages on; all of a text whose messages do not begin a line. */
function messagesOf(text: string): string {
  const at = text.startsWith('messages:') ? 0 : text.indexOf('\nmessages:') + 1;
  return text.slice(at);
}

/**
 * The person's text, made from `base`, with the words that users' messages have in `last`; those that the person changed too
 * are as they say now. Nothing else is merged, so `last` is of use only if persons alone wrote since `base`.
 */
export function keepMessageWords(base: string, person: string, last: string): string {
  const [b, p, l] = [cutText(base), cutText(person), cutText(last)];
  if (!b || !p || !l || b.items.length !== l.items.length) return person;
  const items = [...p.items];
  for (const [i, was] of b.items.entries()) {
    const now = l.items[i] as string;
    if (now === was || !isUsers(was) || !isUsers(now)) continue;
    // Two that are the same word for word: nobody can tell which one is meant.
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
