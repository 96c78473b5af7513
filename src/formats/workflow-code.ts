/** Programs that read some of their words as code: any, those after an option, a script among their operands, or settings. */
const readers: readonly (readonly [RegExp, 'words' | 'option' | 'script' | 'setting'])[] = [
  [/^(?:eval|ssh|mosh|watch|parallel|trap)$/, 'words'],
  [
    /^(?:(?:ba|da|z|k|mk|a|fi|c|tc)?sh|su|flock|script|python|pypy|perl|ruby|node|bun|deno|php|lua|Rscript|osascript|psql|mysql|sqlite3|vim|ex)[\d.]*$/,
    'option',
  ],
  [/^(?:[gmn]?awk|g?sed|jq|bc|dc)$/, 'script'],
  [/^git$/, 'setting'],
];
const CODE_OPTION = /^(?:-[A-Za-z]*[ceEprR]|--(?:eval|print|command|execute|run)(?:=.*)?)$/;

/** Programs whose input is code, whatever their operands are. */
const READS_INPUT = /^(?:ssh|mosh|parallel|psql|mysql|sqlite3|vim|ex|bc|dc)$/;
/** Programs whose input is code unless an operand or an option names it. */
const MAY_READ_INPUT =
  /^(?:(?:ba|da|z|k|mk|a|fi|c|tc)?sh|python|pypy|perl|ruby|node|bun|deno|php|lua|Rscript|osascript)[\d.]*$/;

/**
 * The program to which a value at this place would be code: in `sh -c "echo ${{ x }}"` the inner shell reads what the outer
 * one has put there, and in `echo ${{ x }} | sh` or a here-document it reads it as its input. Arithmetic is code as well, to some
 * shells. Undefined: the value stays a word.
 */
export function readerOf(before: string, after: string): string | undefined {
  const start = commandStart(before);
  const command = before.slice(start);
  if (/\(\((?:[^)]|\)(?!\)))*$/.test(before) || /(?:^|\s)let\s[^;|&\n]*$/.test(command)) return 'arithmetic';
  const words = wordsOf(command);
  const isPart = !/(?:^|[\s=])["']?$/.test(command) || !/^["']?(?:$|[\s;|&)])/.test(after);
  for (const [i, word] of words.entries()) {
    const name = nameOf(word);
    const [, kind] = readers.find(([pattern]) => pattern.test(name)) ?? [];
    const others = words.slice(i + 1);
    const isReader =
      kind === 'words' ||
      (kind === 'option' && others.some(each => CODE_OPTION.test(each))) ||
      (kind === 'script' && (isPart || isFirstOperand(others))) ||
      (kind === 'setting' && others.includes('-c') && !others.some(each => /^["']?user\./.test(each)));
    if (isReader) return name;
  }
  return inputReader(pipedTo(after)) ?? inputReader(documentOf(before) ?? '');
}

/** Whether what follows these words would be the first operand, such as a script. */
function isFirstOperand(words: readonly string[]): boolean {
  const before = words.filter(word => !/^["']+$/.test(word));
  return before.every(word => word.startsWith('-')) && !/^-[Fvf]$/.test(before.at(-1) ?? '');
}

/** The name of the program that a word starts, without folder and quotes. */
function nameOf(word: string): string {
  const plain = word.replace(/["'\\(]/g, '');
  return plain.slice(plain.lastIndexOf('/') + 1);
}

function wordsOf(command: string): string[] {
  return command.trim().split(/\s+/);
}

/** A program in these commands that reads its input as code. */
function inputReader(commands: string): string | undefined {
  for (const command of commands.split(/[;|&\n]|\$\(/)) {
    const words = wordsOf(command);
    for (const [i, word] of words.entries()) {
      const name = nameOf(word);
      const others = words.slice(i + 1).filter(each => !/^\d*[<>]/.test(each));
      const isReader =
        READS_INPUT.test(name) ||
        (MAY_READ_INPUT.test(name) && readsInput(others)) ||
        (/^(?:\.|source)$/.test(name) && others.some(isInput)) ||
        (/^g?make$/.test(name) &&
          others.some((each, n) => each === '-f-' || (each === '-f' && isInput(others[n + 1] ?? '')))) ||
        (name === 'xargs' &&
          others.some(each => /^(?:-[A-Za-z]*[Ii]|--replace)/.test(each)) &&
          others.some(each => MAY_READ_INPUT.test(nameOf(each))));
      if (isReader) return name;
    }
  }
  return undefined;
}

/** Whether an interpreter with these words after its name reads its program from its input. */
function readsInput(words: readonly string[]): boolean {
  if (words.some(word => CODE_OPTION.test(word) || word === '-m')) return false;
  const [operand] = words.filter(word => !/^-./.test(word));
  return operand === undefined || isInput(operand) || words.some(word => /^-[A-Za-z]*s$/.test(word));
}

function isInput(word: string): boolean {
  return word === '-' || word === '/dev/stdin';
}

/** The commands to which the one that goes on with `after` is piped. */
function pipedTo(after: string): string {
  // A quote that is open here ends in the first piece, which is no command.
  const rest = after.split(/\n|;|&&|\|\|/, 1)[0] ?? '';
  return rest.split('|').slice(1).join('|');
}

/** The line of commands that has the here-document in which a text ends. */
function documentOf(before: string): string | undefined {
  for (const match of before.matchAll(/^(.*)<<-?\s*(["']?)([\w.-]+)\2(.*)\n/gm)) {
    const [all, head = '', , end = '', rest = ''] = match;
    const body = before.slice(match.index + all.length).split('\n');
    if (!body.slice(0, -1).some(line => line.replace(/^\t+/, '') === end)) return `${head}${rest}`;
  }
  return undefined;
}

/** Where the command begins that a text ends in: behind the last `;`, `|`, `&`, `(` or line end outside of quotes. */
function commandStart(text: string): number {
  let start = 0;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (quote !== '' && character === quote) quote = '';
    else if (character === '\\' && quote !== "'") i++;
    else if (quote === '' && /["']/.test(character)) quote = character;
    else if ((quote === '' && /[;|&(\n]/.test(character)) || (quote === '"' && text.slice(i, i + 2) === '$('))
      start = i + 1 + (quote === '"' ? 1 : 0);
    if (quote === '"' && text.slice(i, i + 2) === '$(') quote = '';
  }
  return start;
}
