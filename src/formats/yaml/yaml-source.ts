import {
  Composer,
  type CST,
  type Document,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type ParsedNode,
  Parser,
  type YAMLMap,
} from 'yaml';
import {type Place, type Problem, problem} from '../common/diagnostic.ts';
import {lineStarts, placeAt} from '../common/lines.ts';
import type {Spot} from './yaml-plain.ts';
import {findSlip} from './yaml-slip.ts';
import {keyText, readValue} from './yaml-value.ts';

export type Path = readonly (string | number)[];

/** A parsed YAML text: its value, problems and positions. */
export interface YamlSource {
  text: string;
  /** Undefined if the text has a syntax error. */
  value: unknown;
  root: ParsedNode | null;
  problems: Problem[];
  /** It uses anchors or aliases, so its parts cannot be parsed separately. */
  linked: boolean;
  /** Position of a part, as far as known without nodes. */
  spotAt?(path: Path): Spot | 'nowhere' | 'unknown';
}

/** Limits far beyond hand-written text, so that parsing takes bounded time. */
const limits = {depth: 200, tokens: 1_000_000, errors: 20};

interface SyntaxError {
  offset: number;
  code: string;
  message: string;
}

/** Thrown and caught in this file, to stop reading early. */
class TooMuch extends Error {
  readonly offset: number;
  readonly what: 'depth' | 'tokens' | 'documents' | 'errors';

  constructor(offset: number, what: TooMuch['what']) {
    super(what);
    this.offset = offset;
    this.what = what;
  }
}

/** Must not throw: errors are in `problems`. Linear time. */
export function readYaml(text: string): YamlSource {
  const errors: SyntaxError[] = [];
  let tooMuch: TooMuch | undefined;
  let doc: Document.Parsed | undefined;
  try {
    doc = compose(text, errors);
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    tooMuch = error;
  }
  const first = firstOf(errors) ?? (tooMuch?.what === 'depth' ? errorAbove(text, tooMuch.offset) : undefined);
  const problems: Problem[] = [];
  if (first) problems.push(syntaxProblem(text, first));
  else if (tooMuch) problems.push(tooMuchProblem(tooMuch, lineStarts(text)));
  if (!doc || problems.length > 0) return {text, value: undefined, root: null, problems, linked: false};
  return {text, root: doc.contents, ...readValue(text, doc.contents, limits.errors)};
}

/** What follows the first error often follows from it. */
function firstOf(errors: readonly SyntaxError[]): SyntaxError | undefined {
  return errors.reduce<SyntaxError | undefined>((a, b) => (a && a.offset <= b.offset ? a : b), undefined);
}

function syntaxProblem(text: string, error: SyntaxError): Problem {
  const place = placeAt(lineStarts(text), error.offset);
  const slip = findSlip(text, place.line, firstErrorLine);
  return slip
    ? problem('YAML_SYNTAX', slip, slip.message, slip.hint)
    : problem('YAML_SYNTAX', place, messageOf(error), hintFor(error));
}

/** A list below a key without its colon nests ever deeper: look for an error in the first half of the way down. */
function errorAbove(text: string, offset: number): SyntaxError | undefined {
  const half = text.slice(0, text.lastIndexOf('\n', offset >> 1) + 1);
  const first = firstError(half);
  // An error in its last line comes from the cut.
  return first && half.indexOf('\n', first.offset) < half.length - 1 ? first : undefined;
}

function firstErrorLine(text: string): number | undefined {
  const first = firstError(text);
  return first && placeAt(lineStarts(text), first.offset).line;
}

function firstError(text: string): SyntaxError | undefined {
  const errors: SyntaxError[] = [];
  try {
    compose(text, errors);
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    if (errors.length === 0) errors.push({offset: error.offset, code: error.what, message: ''});
  }
  return firstOf(errors);
}

function compose(text: string, errors: SyntaxError[]): Document.Parsed | undefined {
  let failures = 0;
  const fail = (offset: number, code: string, message: string) => {
    // The composer catches this, and reports an error of its own further up.
    if (++failures > limits.errors) throw new TooMuch(offset, 'errors');
    errors.push({offset, code, message});
  };
  const composer = new Composer({uniqueKeys: false, merge: true, keepSourceTokens: true, logLevel: 'silent'});
  // The composer would collect a million errors for a hostile text; stop it after the first few.
  Object.assign(composer, {
    onError(at: number | [number, number] | {offset: number}, code: string, message: string, warning?: boolean) {
      if (!warning) fail(typeof at === 'number' ? at : Array.isArray(at) ? at[0] : at.offset, code, message);
    },
  });
  const tokens = tokenize(text, fail);
  let doc: Document.Parsed | undefined;
  for (const composed of composer.compose(tokens, true, text.length)) doc ??= composed as Document.Parsed;
  return doc;
}

function tokenize(text: string, fail: (offset: number, code: string, message: string) => void): CST.Token[] {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let count = 0;
  let documents = 0;
  const take = (token: CST.Token) => {
    if (token.type === 'document' && ++documents > 1) throw new TooMuch(token.offset, 'documents');
    if (token.type === 'error') fail(token.offset, 'UNEXPECTED_TOKEN', token.message);
    else tokens.push(token);
  };
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) take(token);
    if (parser.stack.length > limits.depth) throw new TooMuch(parser.offset, 'depth');
    if (++count > limits.tokens) throw new TooMuch(parser.offset, 'tokens');
  }
  for (const token of parser.end()) take(token);
  return tokens;
}

function tooMuchProblem(error: TooMuch, starts: readonly number[]): Problem {
  const place = placeAt(starts, error.offset);
  if (error.what === 'depth') {
    return problem(
      'YAML_TOO_DEEP',
      place,
      `expected at most ${limits.depth} levels of nesting, found more`,
      'flatten the structure, or look for a stray [ or {',
    );
  }
  if (error.what === 'documents') {
    return problem(
      'YAML_MANY_DOCUMENTS',
      place,
      'expected one YAML document, found a second',
      'remove the line --- (or put the second document into a file of its own)',
    );
  }
  return problem(
    'FILE_TOO_LARGE',
    place,
    `expected at most ${limits.tokens} YAML tokens, found more`,
    'split the file',
  );
}

/** By code of the `yaml` package. Codes that are not listed keep its message. */
const words: Record<string, {message?: string; hint: string}> = {
  TAB_AS_INDENT: {message: 'expected spaces as indentation, found a tab', hint: 'indent with spaces instead of tabs'},
  BAD_INDENT: {hint: 'align the line with its neighbours'},
  MISSING_CHAR: {hint: 'add the missing character'},
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'expected one "key: value" in a line, found another in its value',
    hint: 'put quotes around a value that contains ": "; or the line below is indented too far',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'expected "key: value", found a line without ":"',
    hint: 'add the ":" after the key; or put quotes around a text of several lines',
  },
  BLOCK_IN_FLOW: {
    message: 'expected "," or a closing bracket, found something else',
    hint: 'put a comma between the entries, or quotes around a value that contains ": "',
  },
  UNEXPECTED_TOKEN: {hint: 'put quotes around the value, or remove what is too much'},
  BAD_ALIAS: {hint: 'put quotes around a value that begins with *'},
  BAD_SCALAR_START: {hint: 'put quotes around the value'},
  TAG_RESOLVE_FAILED: {hint: 'put quotes around a value that begins with !'},
};

function messageOf({code, message}: SyntaxError): string {
  return words[code]?.message ?? message;
}

function hintFor({code, message}: SyntaxError): string {
  const [, end] = /\bend with an? (\S)$/.exec(message) ?? [];
  if (end !== undefined) return `add the missing ${end}, or put quotes around a text that begins with a bracket`;
  return words[code]?.hint ?? 'fix the YAML here';
}

/** Node at `path` and, in a map, its key. Undefined if the path leads nowhere. */
export function nodeAt(
  root: ParsedNode | null,
  path: Path,
): {node: ParsedNode | null; key: ParsedNode | null} | undefined {
  let node: ParsedNode | null = root;
  let key: ParsedNode | null = null;
  for (const step of path) {
    if (isMap(node)) {
      const pair: YAMLMap.Parsed['items'][number] | undefined = (node as YAMLMap.Parsed).items.find(
        item => isScalar(item.key) && keyText(item.key.value) === String(step),
      );
      if (!pair) return undefined;
      key = pair.key;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      const item = node.items[step];
      if (item === undefined) return undefined;
      key = null;
      node = item as ParsedNode;
    } else return undefined;
  }
  return {node, key};
}

/** Place of the value at `path` (or of its key), or of its nearest existing ancestor. */
export function placeOfValue(
  source: YamlSource,
  path: Path,
  starts = lineStarts(source.text),
  what: 'value' | 'key' = 'value',
): Place {
  for (let length = path.length; length >= 0; length--) {
    const found = spotOf(source, path.slice(0, length));
    if (!found) continue;
    const whole = length === path.length && what === 'value';
    const at = whole ? (found.value ?? found.key) : (found.key ?? found.value);
    if (at !== undefined) return placeAt(starts, at);
  }
  return {line: 1, column: 1};
}

function spotOf(source: YamlSource, path: Path): {key: number | undefined; value: number | undefined} | undefined {
  const spot = source.spotAt?.(path) ?? 'unknown';
  if (spot === 'nowhere') return undefined;
  if (spot !== 'unknown') return spot;
  const found = nodeAt(source.root, path);
  return found && {key: found.key?.range?.[0], value: found.node?.range?.[0]};
}
