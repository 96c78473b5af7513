import {findTaskFiles} from './find-task-files.ts';
import {type Token, tokensOf, unquoted} from './sql-tokens.ts';

export interface TranslatedQuery {
  sql: string;
  values: Record<string, string>;
}

/** Columns with several words: there `CONTAINS` matches one of them. */
const lists: ReadonlySet<string> = new Set(['tags', 'assignee', 'depends_on', 'blocked_by']);

const keywords: ReadonlySet<string> = new Set(
  (
    'select from where and or not in is like glob between order group by having limit offset union all except intersect ' +
    'join left right full inner outer cross natural on using as case when then else end distinct exists window values'
  ).split(' '),
);

/** Translate a query to SQLite: resolves task files in place of tables, and CONTAINS. Allows a single SELECT only. */
export function translate(text: string, files: readonly string[]): TranslatedQuery | {problem: string; hint?: string} {
  const tokens = tokensOf(text);
  if ('problem' in tokens) return tokens;
  const said = tokens.flatMap((token, i) => (token.kind === 'blank' ? [] : [i]));
  const wrong = refusal(tokens, said);
  if (wrong) return wrong;
  const out = tokens.map(token => token.text);
  const values: Record<string, string> = {};
  const bind = (value: string): string => {
    const name = `:agentdir${Object.keys(values).length}`;
    values[name] = value;
    return name;
  };
  for (const [nth, i] of said.entries()) {
    const token = tokens[i];
    if (token?.kind === 'file') {
      const found = findTaskFiles(unquoted(token.text), files);
      if ('problem' in found) return found;
      const list = bind(JSON.stringify(found.files));
      const named = isOperand(tokens[said[nth + 1] ?? -1]) || isWord(tokens[said[nth + 1] ?? -1], 'as');
      const rows = `SELECT * FROM ${found.table} WHERE file IN (SELECT value FROM json_each(${list}))`;
      out[i] = `(${rows})${named ? '' : ` AS ${found.table}`}`;
    } else if (isWord(token, 'contains')) contains(tokens, said, nth, out, bind);
  }
  return {sql: out.slice(said[0]).join(''), values};
}

function refusal(tokens: readonly Token[], said: readonly number[]): {problem: string; hint?: string} | undefined {
  const [first] = said;
  if (first === undefined)
    return {problem: 'it is empty', hint: 'for example: SELECT id, title FROM tasks WHERE ready'};
  const begin = tokens[first];
  if (!['select', 'with', 'values'].some(word => isWord(begin, word)))
    return {
      problem: `expected SELECT, found ${begin?.text.slice(0, 40)}`,
      hint: 'tasks are only read here: SELECT … FROM tasks',
    };
  const end = said.findIndex(i => tokens[i]?.text === ';');
  if (end !== -1 && said.slice(end).some(i => tokens[i]?.text !== ';'))
    return {problem: 'expected one statement, found more behind the ;', hint: 'ask one after the other'};
  const parameter = said.map(i => tokens[i]).find(token => token?.kind === 'parameter');
  if (parameter)
    return {
      problem: `${parameter.text.slice(0, 40)} has no value here`,
      hint: "write values in quotes, names without @ and #: assignee = 'planner-001'",
    };
  return undefined;
}

/** Rewrite `X CONTAINS Y`: search lists for a whole word, other columns for a substring in any letter case. */
function contains(
  tokens: readonly Token[],
  said: readonly number[],
  nth: number,
  out: string[],
  bind: (value: string) => string,
): void {
  const at = (n: number) => tokens[said[n] ?? -1];
  const not = isWord(at(nth - 1), 'not');
  const leftEnd = not ? nth - 2 : nth - 1;
  const leftStart = operandBack(at, leftEnd);
  const right = operandOn(at, nth + 1);
  if (leftStart === undefined || right === undefined) return;
  const place = (n: number) => said[n] ?? -1;
  const list = lists.has(unquoted(at(leftEnd)?.text ?? '').toLowerCase());
  const [open, close] = list ? ["' ' || coalesce(", ", '') || ' '"] : ['lower(coalesce(', ", ''))"];
  const literal = at(nth + 1)?.kind === 'string' ? unquoted(at(nth + 1)?.text ?? '') : undefined;
  if (literal !== undefined) out[place(nth + 1)] = bind(list ? literal.trim().replace(/^[@#]/, '') : literal);
  out[place(leftStart)] = `(instr(${open}${out[place(leftStart)]}`;
  out[place(leftEnd)] += close;
  if (not) out[place(nth - 1)] = '';
  out[place(nth)] = ',';
  out[place(nth + 1)] = (list ? "' ' || " : 'lower(') + out[place(nth + 1)];
  out[place(right)] += `${list ? " || ' '" : ')'}) ${not ? '= 0' : '> 0'})`;
}

type At = (n: number) => Token | undefined;

/** Start of the operand that ends at `n`: a column, a string, or parentheses with their function. */
function operandBack(at: At, n: number): number | undefined {
  if (at(n)?.text === ')') {
    let depth = 0;
    for (let i = n; i >= 0; i--) {
      if (at(i)?.text === ')') depth++;
      if (at(i)?.text === '(' && --depth === 0) return isOperand(at(i - 1)) ? i - 1 : i;
    }
    return undefined;
  }
  if (!isOperand(at(n))) return undefined;
  return at(n - 1)?.text === '.' && isOperand(at(n - 2)) ? operandBack(at, n - 2) : n;
}

/** End of the operand that starts at `n`. */
function operandOn(at: At, n: number): number | undefined {
  if (at(n)?.text === '(') {
    let depth = 0;
    for (let i = n; at(i); i++) {
      if (at(i)?.text === '(') depth++;
      if (at(i)?.text === ')' && --depth === 0) return i;
    }
    return undefined;
  }
  if (!isOperand(at(n))) return undefined;
  if (at(n)?.kind === 'word' && at(n + 1)?.text === '(') return operandOn(at, n + 1);
  return at(n + 1)?.text === '.' && isOperand(at(n + 2)) ? operandOn(at, n + 2) : n;
}

function isOperand(token: Token | undefined): boolean {
  if (!token) return false;
  if (token.kind === 'word') return !keywords.has(token.text.toLowerCase());
  return token.kind === 'name' || token.kind === 'string' || token.kind === 'number';
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text.toLowerCase() === word;
}
