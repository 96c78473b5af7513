/** Longer programs are not read. */
const LONGEST = 4096;

const keywords = new Set(
  'BEGIN END BEGINFILE ENDFILE if else while for do in break continue next nextfile exit return delete print printf function'.split(
    ' ',
  ),
);
const functions = new Set(
  'length substr index split gsub sub match sprintf tolower toupper int sqrt exp log sin cos atan2 rand srand gensub strftime systime mktime asort asorti and or xor lshift rshift compl strtonum patsplit typeof isarray'.split(
    ' ',
  ),
);
/** Names that run, read or load something, or show the environment. */
const forbidden =
  /^(?:system|getline|close|fflush|extension|ENVIRON|PROCINFO|ARGV|ARGC|ARGIND|SYMTAB|FUNCTAB|INPLACE\w*|func|switch|case|default)$/;
const afterOperand = new Set([')', '++', '--', '$']);

interface Token {
  kind: 'name' | 'number' | 'string' | 'regex' | 'keyword' | 'operator';
  text: string;
  /** A closing parenthesis after which a slash divides. */
  endsValue?: boolean;
}

/**
 * Whether an awk program only computes and prints: no program is started, no file is read or written beside the
 * operands, no code is loaded. Where awks differ, or a slash may divide or begin a regular expression, it counts as
 * unknown.
 */
export function isHarmlessAwk(program: string): boolean {
  if (program.length > LONGEST) return false;
  const tokens = tokensOf(program);
  return tokens !== undefined && !redirects(tokens);
}

function tokensOf(program: string): Token[] | undefined {
  const tokens: Token[] = [];
  // For each open parenthesis: whether a statement may follow its end, as after `if (…)`.
  const open: boolean[] = [];
  let at = 0;
  while (at < program.length) {
    const rest = program.slice(at);
    // A line that is judged has no newline, which would end a statement.
    const blank = /^ +/.exec(rest);
    if (blank) {
      at += blank[0].length;
      continue;
    }
    const token = tokenAt(rest, tokens.at(-1));
    if (!token) return undefined;
    if (token.text === '(') open.push(/^(?:if|while|for)$/.test(tokens.at(-1)?.text ?? ''));
    if (token.text === ')') token.endsValue = open.pop() === false;
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

function tokenAt(rest: string, last: Token | undefined): Token | undefined {
  const [name] = /^[A-Za-z_]\w*/.exec(rest) ?? [];
  if (name !== undefined) {
    if (forbidden.test(name)) return undefined;
    if (keywords.has(name)) return {kind: 'keyword', text: name};
    // A call of a function that is not known, or defined in the program: its body is read as well.
    return {kind: 'name', text: name};
  }
  const [number] = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/.exec(rest) ?? [];
  // gawk reads 0x1system as a number and a name, others as a name.
  if (number !== undefined)
    return /^[\w.]/.test(rest.slice(number.length)) ? undefined : {kind: 'number', text: number};
  const [string] = /^"(?:\\.|[^"\\\n])*"/.exec(rest) ?? [];
  if (string !== undefined) return {kind: 'string', text: string};
  if (rest.startsWith('/')) return regexAt(rest, last);
  // One `|` is a pipe, `@` calls a function by a computed name, `#` is a comment, a backslash joins lines.
  const [operator] = /^(?:\+\+|--|&&|\|\||[<>=!+*%^-]=|!~|\*\*|>>|[-+*%^!<>=~?:,;(){}[\]$])/.exec(rest) ?? [];
  return operator === undefined ? undefined : {kind: 'operator', text: operator};
}

/** A regular expression where no operand comes before it; a division where one does; unknown where it may be either. */
function regexAt(rest: string, last: Token | undefined): Token | undefined {
  if (last && (last.kind === 'number' || last.kind === 'string' || last.text === ']' || last.endsValue))
    return {kind: 'operator', text: '/'};
  if (last?.kind === 'name' && !functions.has(last.text)) return {kind: 'operator', text: '/'};
  if (last && (afterOperand.has(last.text) || last.kind === 'name' || last.kind === 'regex')) return undefined;
  const [regex] = /^\/(?:\\.|[^/\\\n])*\//.exec(rest) ?? [];
  const body = regex?.slice(1, -1).replace(/\\./g, '') ?? '';
  return regex === undefined || !closedSets.test(body) ? undefined : {kind: 'regex', text: regex};
}

/**
 * A regular expression, without escapes, in which every bracket set is closed. A slash within a set ends the expression in
 * some awks only, so where a set may still be open, it counts as unknown where the expression ends.
 */
const closedSets = /^(?:[^[\]]|\[\^?(?:[^[\]^]|\[:[a-z]+:\])(?:[^[\]]|\[:[a-z]+:\])*\])*$/;

/** Whether a `print` writes to a file: `>` outside parentheses in a print statement. */
function redirects(tokens: readonly Token[]): boolean {
  let printing = false;
  let depth = 0;
  for (const {kind, text} of tokens) {
    if (kind === 'keyword' && (text === 'print' || text === 'printf')) {
      printing = true;
      depth = 0;
    } else if (kind === 'operator') {
      if (text === '>>' || (text === '>' && printing && depth === 0)) return true;
      if (text === '(' || text === '[') depth++;
      else if (text === ')' || text === ']') depth--;
      else if (text === ';' || text === '{' || text === '}') printing = false;
    }
  }
  return false;
}
