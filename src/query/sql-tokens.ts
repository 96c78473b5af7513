/** A token of SQL. `file`: a path or glob in place of a table. The tokens concatenated are the text. */
export interface Token {
  kind: 'word' | 'string' | 'name' | 'number' | 'file' | 'parameter' | 'symbol' | 'blank';
  text: string;
}

/** Tokens of SQLite's grammar; the first match wins. */
const kinds: readonly (readonly [Token['kind'], RegExp])[] = [
  ['blank', /\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y],
  ['string', /'[^']*(?:''[^']*)*'/y],
  ['name', /"[^"]*(?:""[^"]*)*"|`[^`]*(?:``[^`]*)*`|\[[^\]]*\]/y],
  ['number', /(?:\d|\.\d)[\w.]*/y],
  ['word', /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y],
  ['parameter', /\?\d*|[:@$#][\w$:-]+/y],
  ['symbol', /[^'"`[\0]/y],
];

/** Tokens that may follow table names and their aliases. */
const AFTER_TABLES =
  /^(?:[()]|where|group|order|limit|having|on|using|union|except|intersect|window|select|and|or|when|then|else|end)$/;

const PATH = /[^\s,;()'"`[\]]+/y;

/** Split into tokens, or say what is wrong. Linear time. */
export function tokensOf(sql: string): Token[] | {problem: string} {
  const tokens: Token[] = [];
  let at = 0;
  /** The last token, and whether a table may follow. */
  let last = '';
  let table = false;
  /** In a list of tables, where another may follow a comma. */
  let among = false;
  while (at < sql.length) {
    const token: Token | undefined = (table ? fileAt(sql, at) : undefined) ?? tokenAt(sql, at);
    if (!token) return {problem: sql[at] === '\0' ? 'it has a NUL in it' : `${sql[at]} is opened and not closed`};
    if (token.kind !== 'blank') {
      const word = token.text.toLowerCase();
      const begins: boolean = token.kind === 'word' && ((word === 'from' && last !== 'distinct') || word === 'join');
      among = begins || (among && !AFTER_TABLES.test(word));
      table = begins || (among && word === ',');
      last = word;
    }
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

function tokenAt(sql: string, at: number): Token | undefined {
  for (const [kind, pattern] of kinds) {
    pattern.lastIndex = at;
    const [text] = pattern.exec(sql) ?? [];
    if (text !== undefined) return {kind, text};
  }
  return undefined;
}

/** `tasks/x.task.md`, `tasks/*.task.md`, `x.task.md`, `tasks/x`; also in quotes. */
function fileAt(sql: string, at: number): Token | undefined {
  PATH.lastIndex = at;
  const [text] = PATH.exec(sql) ?? [];
  if (text !== undefined) return isFile(text) ? {kind: 'file', text} : undefined;
  const token = tokenAt(sql, at);
  const quoted = token?.kind === 'string' || token?.kind === 'name';
  return quoted && isFile(token.text.slice(1, -1)) ? {kind: 'file', text: token.text} : undefined;
}

function isFile(text: string): boolean {
  return text.endsWith('.md') || (/^[\w.-]+(?:\/[\w.-]+)+$/.test(text) && !text.startsWith('.'));
}

/** Remove quotes from a string or name. */
export function unquoted(text: string): string {
  const quote = text[0] ?? '';
  if (!`'"\`[`.includes(quote)) return text;
  return quote === '[' ? text.slice(1, -1) : text.slice(1, -1).replaceAll(quote + quote, quote);
}
