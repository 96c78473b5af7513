import {readFileSync} from 'node:fs';
import {exit, UserError} from '../../formats/common/errors.ts';
import {type ReplacedSecret, redactMessage} from '../actions/talk/redact-message.ts';
import {note} from '../terminal/output.ts';

/** Reads stdin without the final newline. */
export function stdinText(): string {
  const bytes = readFileSync(0);
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) throw new UserError('standard input is not UTF-8', exit.usage);
  return text.replace(/\r?\n$/, '');
}

export interface GivenText<K extends string> {
  texts: Record<K, string | undefined>;
  replaced: ReplacedSecret[];
}

/** Reads texts (`-` is stdin), refuses empty ones and redacts credentials. */
export function givenTexts<K extends string>(
  home: string,
  given: Readonly<Record<K, string | undefined>>,
): GivenText<K> {
  const entries = Object.entries<string | undefined>(given);
  if (entries.filter(([, value]) => value === '-').length > 1)
    throw new UserError('only one text can come from standard input', exit.usage);
  const all: ReplacedSecret[] = [];
  const texts = entries.map(([name, value]) => {
    if (value === undefined) return [name, undefined];
    const text = value === '-' ? stdinText() : value;
    if (text.trim() === '') throw new UserError(`the ${name} is empty`, exit.usage);
    const {content, replaced} = redactMessage(home, text);
    all.push(...replaced);
    return [name, content];
  });
  return {texts: Object.fromEntries(texts) as Record<K, string | undefined>, replaced: all};
}

/** Reports redactions. */
export function reportReplaced(replaced: readonly ReplacedSecret[]): void {
  for (const {what, count} of replaced)
    note(`note: ${count === 1 ? `1 ${what} was` : `${count} × ${what} were`} replaced before writing`);
}
