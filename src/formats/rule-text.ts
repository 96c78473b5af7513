import {type Place, type Problem, problem} from './common/diagnostic.ts';
import type {Rule, Verdict} from './rule.ts';

/** Parse a rule: words separated by white space; quotes keep white space in one word. */
export function makeRule(match: string, kind: Verdict, place: Place, problems: Problem[]): Rule | undefined {
  const words = splitWords(match);
  if (!words || words.length === 0) {
    problems.push(
      problem(
        'BAD_RULE',
        place,
        `expected words such as "git log *", got ${JSON.stringify(match)}`,
        words ? 'name at least the command' : 'close the quotes',
      ),
    );
    return undefined;
  }
  if (kind === 'allow' && /[*?[\]]/.test(words[0] ?? '')) {
    problems.push(
      problem(
        'BAD_RULE',
        place,
        `expected an allow rule to name its command, got ${JSON.stringify(match)}`,
        'write the command out; a rule that allows any command is no policy',
      ),
    );
    return undefined;
  }
  const open = words.length > 1 && words.at(-1) === '*';
  return {verdict: kind, match, words: open ? words.slice(0, -1) : words, open, place};
}

export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const char of text) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else word = (word ?? '') + char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (word !== undefined) words.push(word);
  return quote === undefined ? words : undefined;
}

/** Rule text that matches exactly these words, with globs taken literally; undefined: impossible. */
export function ruleText(argv: readonly string[]): string | undefined {
  const [command = ''] = argv;
  if (command === '' || /[*?[\]]/.test(command)) return undefined;
  return argv.map(word => quoted(literally(word))).join(' ');
}

/** Put glob characters in brackets to make them literal; a backslash is special only in globs. */
export function literally(word: string): string {
  return /[*?[]/.test(word) ? word.replace(/[*?[\\]/g, char => (char === '\\' ? '[\\\\]' : `[${char}]`)) : word;
}

function quoted(word: string): string {
  if (word !== '' && !/[\s"']/.test(word)) return word;
  // Adjacent pieces form one word.
  const pieces = word.match(/[^']+|'+/g) ?? [''];
  return pieces.map(piece => (piece.startsWith("'") ? `"${piece}"` : `'${piece}'`)).join('');
}
