/** `*` matches any characters; `one` tests a single character. */
type Token = '*' | {one: (char: string) => boolean};

/** Matcher for a glob over one name, without `/`. Takes at most time proportional to name × pattern. */
export function nameMatcher(source: string): (name: string) => boolean {
  if (!/[*?[\\]/.test(source)) return name => name === source;
  const suffix = source.slice(1);
  if (source === '*') return () => true;
  if (source[0] === '*' && !/[*?[\\]/.test(suffix)) return name => name.endsWith(suffix);
  const tokens = tokensOf(source);
  return name => matches(tokens, name);
}

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  const chars = [...source];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? '';
    if (char === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*');
    } else if (char === '?') tokens.push({one: () => true});
    else if (char === '[') {
      const end = classEnd(chars, i);
      if (end === undefined) tokens.push(literal(char));
      else {
        tokens.push({one: classOf(chars.slice(i + 1, end))});
        i = end;
      }
    } else if (char === '\\' && i + 1 < chars.length) tokens.push(literal(chars[++i] ?? ''));
    else tokens.push(literal(char));
  }
  return tokens;
}

/** Whether a `[` has no closing `]`. */
export function hasOpenClass(source: string): boolean {
  const chars = [...source];
  for (let i = 0; i < chars.length; i++) {
    if (chars[i] === '\\') i++;
    else if (chars[i] === '[') {
      const end = classEnd(chars, i);
      if (end === undefined) return true;
      i = end;
    }
  }
  return false;
}

function literal(wanted: string): Token {
  return {one: char => char === wanted};
}

/** End of a class; a `]` right after its start is a literal. */
function classEnd(chars: readonly string[], from: number): number | undefined {
  let at = from + 1;
  if (chars[at] === '!' || chars[at] === '^') at++;
  const end = chars.indexOf(']', at + 1);
  return end < 0 ? undefined : end;
}

function classOf(body: readonly string[]): (char: string) => boolean {
  const negated = body[0] === '!' || body[0] === '^';
  const items = negated ? body.slice(1) : body;
  const ranges: [string, string][] = [];
  for (let i = 0; i < items.length; i++) {
    const from = items[i] ?? '';
    const isRange = items[i + 1] === '-' && i + 2 < items.length;
    ranges.push([from, isRange ? (items[i + 2] ?? '') : from]);
    if (isRange) i += 2;
  }
  return char => ranges.some(([from, to]) => char >= from && char <= to) !== negated;
}

/** Backtracks to the last `*` only: an earlier one never needs to match more. */
function matches(tokens: readonly Token[], name: string): boolean {
  const chars = [...name];
  let t = 0;
  let c = 0;
  let star = -1;
  let retry = 0;
  while (c < chars.length) {
    const token = tokens[t];
    if (token === '*') {
      star = t++;
      retry = c;
    } else if (token?.one(chars[c] ?? '')) {
      t++;
      c++;
    } else if (star >= 0) {
      t = star + 1;
      c = ++retry;
    } else return false;
  }
  while (tokens[t] === '*') t++;
  return t === tokens.length;
}
