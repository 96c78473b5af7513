import {parseSession} from './session.ts';

/**
 * What was delivered into a session, by id, as the daemon writes it: a line of its own, where the keys of messages stand. That is
 * found without parsing the file. What people outside wrote is in these files, too: if some such line stands elsewhere, in a text
 * perhaps, the file is parsed.
 */
export function deliveriesIn(text: string): string[] {
  const found = [...text.matchAll(/^( *)delivery: (.+?)\r?$/gm)];
  const [, item = ''] = /^messages:[^\S\n]*\r?\n(?:\s*#.*\n)*( *- +)\S/m.exec(text) ?? [];
  const some = text.split('delivery:').length - 1;
  if (
    found.length === some &&
    found.every(([, indent = '', id = '']) => indent.length === item.length && PLAIN.test(id))
  )
    return found.map(([, , id = '']) => id);
  return parseSession(text).messages.flatMap(({delivery}) => delivery ?? []);
}

const PLAIN = /^[\w/=][\w/=%@#.:+-]*$/;
