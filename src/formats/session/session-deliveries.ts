import {parseSession} from './session.ts';

const KEY = 'delivery:';
const PLAIN = /^[\w/=][\w/=%@#.:+-]*$/;

/**
 * Ids of deliveries in a session. The daemon writes each on a line of its own at the indentation of message keys, so
 * they are found without parsing. If `delivery:` occurs elsewhere, perhaps in text from outside, the file is parsed.
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
