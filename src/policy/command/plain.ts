/** How a command follows the previous one; '' for the first. */
export type Operator = '' | ';' | '&&' | '||' | '|';

export interface Segment {
  /** Words after quote removal. */
  argv: string[];
  source: string;
  operator: Operator;
  /** Indexes of words with `$`, a backtick or `~` in single quotes, where they mean nothing to a shell. */
  quoted?: readonly number[];
  /** Text read from here-documents or a plain echo before a pipe; commands that share input share the array. */
  input?: readonly string[];
}

/** Reasons why a line is ambiguous; each continues "the line". */
export const unclearReasons = {
  long: 'is longer than 16384 characters',
  deep: 'has too many brackets to follow',
  character: 'has a character outside printable ASCII',
  tab: 'has a tab',
  newline: 'has more than one line',
  dollar: 'uses $ expansion',
  backtick: 'uses a backtick substitution',
  tilde: 'uses ~',
  backslash: 'uses a backslash outside single quotes',
  redirect: 'redirects input or output',
  assignment: 'sets a variable',
  glob: 'uses an unquoted glob',
  brace: 'uses an unquoted brace',
  background: 'runs a command in the background',
  heredoc: 'has a here-document',
  compound: 'uses a compound command',
  negation: 'uses !',
  time: 'uses time',
  coproc: 'starts a coprocess',
  comment: 'has a comment',
  quote: 'has an unclosed quote',
  syntax: 'is not valid shell',
  empty: 'has no command',
  name: 'has a command name that is not plain',
  twoReadings: 'can be read in two ways',
} as const;

export interface PlainReading {
  segments: Segment[];
  doubts: Set<string>;
}

const special: Readonly<Record<string, string>> = {
  '<': unclearReasons.redirect,
  '>': unclearReasons.redirect,
  '(': unclearReasons.compound,
  ')': unclearReasons.compound,
  '{': unclearReasons.brace,
  '}': unclearReasons.brace,
  '*': unclearReasons.glob,
  '?': unclearReasons.glob,
  '[': unclearReasons.glob,
};

/**
 * Read a line with knowledge of quotes and operators only. Without doubts this reading is exact, because nothing is
 * left that could change it; with doubts it is a guess for deny rules. Linear time.
 */
export function readPlain(line: string): PlainReading {
  const doubts = new Set<string>();
  const segments: Segment[] = [];
  let argv: string[] = [];
  let word: string | undefined;
  let operator: Operator = '';
  let start = 0;
  let quote = '';
  let quoted: number[] = [];

  const endWord = (): void => {
    if (word !== undefined) argv.push(word);
    word = undefined;
  };
  const endSegment = (at: number, next: Operator, width: number): void => {
    endWord();
    if (argv.length > 0)
      segments.push({argv, source: line.slice(start, at).trim(), operator, ...(quoted.length > 0 && {quoted})});
    argv = [];
    quoted = [];
    operator = next;
    start = at + width;
  };

  for (let i = 0; i < line.length; i++) {
    const char = line.charAt(i);
    if (quote === "'" && /[$`~]/.test(char)) quoted.push(argv.length);
    else if (char !== '~' || quote !== '' || !isRevision.test(word ?? '')) addCharacterDoubt(char, doubts);
    if (quote !== '') {
      if (char === quote) quote = '';
      else if (char === '\\' && quote === '"' && staysInQuotes.test(line.charAt(i + 1))) word = (word ?? '') + char;
      else if (char === '\\' && quote === '"') {
        doubts.add(unclearReasons.backslash);
        word = (word ?? '') + line.charAt(++i);
      } else word = (word ?? '') + char;
      continue;
    }
    const pair = line.slice(i, i + 2);
    if (char === ' ' || char === '\t' || char === '\r') endWord();
    else if (char === '\n' || char === ';') endSegment(i, ';', 1);
    else if (pair === '&&' || pair === '||') endSegment(i++, pair, 2);
    else if (char === '|') {
      if (pair === '|&') doubts.add(unclearReasons.redirect);
      endSegment(i, '|', 1);
    } else if (char === '&' && (pair === '&>' || /[<>]/.test(line.charAt(i - 1)))) {
      doubts.add(unclearReasons.redirect);
    } else if (char === '&') {
      doubts.add(unclearReasons.background);
      endSegment(i, ';', 1);
    } else if (char === '(' || char === ')') {
      doubts.add(unclearReasons.compound);
      endSegment(i, ';', 1);
    } else if (char === '`') endSegment(i, ';', 1);
    else if (char === "'" || char === '"') {
      quote = char;
      word ??= '';
    } else if (char === '\\') {
      if (!isEscapedBracket.test(line.slice(i - 1, i + 3))) doubts.add(unclearReasons.backslash);
      word = (word ?? '') + line.charAt(++i);
    } else {
      const why = special[char];
      if (why !== undefined) doubts.add(why);
      if (char === '#' && word === undefined) doubts.add(unclearReasons.comment);
      if (why === unclearReasons.redirect) endWord();
      else word = (word ?? '') + char;
    }
  }
  if (quote !== '') doubts.add(unclearReasons.quote);
  endSegment(line.length, '', 0);
  return {segments, doubts};
}

/** Before these a backslash in double quotes is a character: `"a\|b"`. */
const staysInQuotes = /^[A-Za-z0-9|.()+?*[\]{}^/,:;<>=#%&@-]$/;
/** A word of its own, as in `find . \( -name a \)`. */
const isEscapedBracket = /^ \\[()!](?: |$)/;

/** Before a `~` that a shell leaves alone, as in `HEAD~1`: not the start of a word or of a value. */
const isRevision = /^[^=:]*[A-Za-z0-9_^}~]$/;

/** Characters that matter even in double quotes. */
function addCharacterDoubt(char: string, doubts: Set<string>): void {
  if (char === '$') doubts.add(unclearReasons.dollar);
  else if (char === '`') doubts.add(unclearReasons.backtick);
  else if (char === '~') doubts.add(unclearReasons.tilde);
  else if (char === '\t') doubts.add(unclearReasons.tab);
  else if (char === '\n' || char === '\r') doubts.add(unclearReasons.newline);
  else if (char < ' ' || char > '~') doubts.add(unclearReasons.character);
}
