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
  const starts = errors.length > 0 || tooMuch ? lineStarts(text) : [];
  const problems = errors
    .slice(0, limits.errors)
    .map(error => problem('YAML_SYNTAX', placeAt(starts, error.offset), error.message, hintFor(error)));
  if (tooMuch && tooMuch.what !== 'errors') problems.unshift(tooMuchProblem(tooMuch, starts));
  if (!doc || problems.length > 0) return {text, value: undefined, root: null, problems, linked: false};
  return {text, root: doc.contents, ...readValue(text, doc.contents, limits.errors)};
}

function compose(text: string, errors: SyntaxError[]): Document.Parsed | undefined {
  let failures = 0;
  const fail = (offset: number, code: string, message: string) => {
    // Report several unclosed brackets as one problem.
    if (!errors.some(error => error.offset === offset && error.message === message))
      errors.push({offset, code, message});
    if (++failures > limits.errors) throw new TooMuch(offset, 'errors');
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

const hints: Record<string, string> = {
  TAB_AS_INDENT: 'indent with spaces instead of tabs',
  BAD_INDENT: 'align the line with its neighbours',
  MISSING_CHAR: 'add the missing character',
  BLOCK_AS_IMPLICIT_KEY: 'put quotes around a value that contains ": "; or the line below is indented too far',
  MULTILINE_IMPLICIT_KEY: 'put quotes around a value that contains ": "; or a line here is indented too far',
  UNEXPECTED_TOKEN: 'put quotes around the value, or remove what is too much',
  BAD_ALIAS: 'put quotes around a value that begins with *',
  BAD_SCALAR_START: 'put quotes around the value',
  TAG_RESOLVE_FAILED: 'put quotes around a value that begins with !',
};

function hintFor({code, message}: SyntaxError): string {
  const [, end] = /\bend with an? (\S)$/.exec(message) ?? [];
  if (end !== undefined) return `add the missing ${end}, or put quotes around a text that begins with a bracket`;
  if (message.endsWith('without - indicator'))
    return 'align the line with the keys of the item above it, or begin it with - to make a new one';
  return hints[code] ?? 'fix the YAML here';
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
