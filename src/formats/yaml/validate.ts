import {z} from 'zod';
import {nearest, type Place, type Problem, problem} from '../common/diagnostic.ts';
import type {Code} from '../common/errors.ts';
import {lineStarts} from '../common/lines.ts';
import {type KeysWithoutEffect, keyProblem} from '../common/no-effect.ts';
import {type Path, placeOfValue, type YamlSource} from './yaml-source.ts';

/** Names the diagnostic of a refinement: `z.string().refine(ok, refuse('BAD_ID', 'letters …', 'rename it'))`. */
export function refuse(
  code: Code,
  expected: string,
  hint: string,
): {error: string; params: {code: Code; hint: string}} {
  return {error: expected, params: {code, hint}};
}

/** More specific codes than BAD_VALUE, for well-known keys. */
const codeOfKey: Record<string, Code> = {status: 'BAD_STATUS', role: 'BAD_ROLE'};

/** What to say about keys that have no effect: `'nothing'`, or also of which known keys that is so. */
export type KeyReport = 'nothing' | KeysWithoutEffect;

/** Return the checked value, or undefined with problems. Keys without effect are warnings. */
export function validate<S extends z.ZodType>(
  schema: S,
  source: YamlSource,
  empty: string,
  keys: KeyReport = {},
): {value: z.output<S> | undefined; problems: Problem[]} {
  if (source.problems.length > 0) return {value: undefined, problems: source.problems};
  let starts: number[] | undefined;
  const at: PlaceFinder = (path, what) => {
    starts ??= lineStarts(source.text);
    return placeOfValue(source, path, starts, what);
  };
  return validateValue(schema, source.value, at, empty, keys);
}

export type PlaceFinder = (path: Path, what?: 'value' | 'key') => Place;

/** `at`: place of the value at a path; `empty`: what to write into an empty file. */
export function validateValue<S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: PlaceFinder,
  empty: string,
  keys: KeyReport = {},
): {value: z.output<S> | undefined; problems: Problem[]} {
  if (value === null || value === undefined || typeof value !== 'object' || Array.isArray(value)) {
    const found = value === null || value === undefined ? 'nothing' : describe(value);
    return {
      value: undefined,
      problems: [problem('NOT_A_MAP', at([]), `expected keys and values (key: value), found ${found}`, empty)],
    };
  }
  // Without jitless, zod compiles code for each schema at first use: a tenth of a command's start, without later gain.
  const result = schema.safeParse(value, {jitless: true});
  const warnings = keys === 'nothing' ? [] : [...keyProblems(schema, value, keys, at)];
  if (result.success) return {value: result.data, problems: warnings};
  const problems = result.error.issues.slice(0, 50).map(issue => issueProblem(issue, value, at));
  // A file with an error has no effect as a whole; a misspelt key may be the reason.
  return {value: undefined, problems: [...problems, ...warnings.filter(({code}) => code === 'LIKELY_TYPO')]};
}

type Issue = z.core.$ZodIssue;

function issueProblem(issue: Issue, root: unknown, at: PlaceFinder): Problem {
  const path = issue.path.filter(step => typeof step !== 'symbol') as (string | number)[];
  const found = valueAt(root, path);
  const name = path.length > 0 ? pathName(path) : 'the file';
  if (issue.code === 'custom' && issue.params?.code) {
    const message =
      found === undefined || typeof found === 'object' ? issue.message : `${issue.message}, got ${describe(found)}`;
    return problem(issue.params.code as Code, at(path), message, String(issue.params.hint ?? 'correct it'));
  }
  if (found === undefined) {
    return problem(
      'MISSING_KEY',
      at(path),
      `expected the key "${pathName(path)}", found none`,
      `add "${String(path.at(-1))}:"`,
    );
  }
  if (issue.code === 'invalid_type') return wrongType(issue.expected, found, name, at(path));
  if (issue.code === 'invalid_value') {
    const words = issue.values.map(String);
    const near = typeof found === 'string' ? nearest(found, words) : undefined;
    const code = codeOfKey[String(path.at(-1))] ?? 'BAD_VALUE';
    const hint = near ? `did you mean "${near}"?` : `write one of: ${words.join(', ')}`;
    return problem(code, at(path), `${name}: expected ${words.join(' | ')}, got ${describe(found)}`, hint);
  }
  if (issue.code === 'invalid_key')
    return problem(
      'BAD_ID',
      at(path, 'key'),
      `${name}: expected an id of letters, digits, ".", "_" and "-"`,
      'choose a simpler name',
    );
  if (issue.code === 'too_small' && (issue.minimum === 1 || issue.minimum === 1n) && issue.origin !== 'number') {
    return problem(
      'BAD_VALUE',
      at(path),
      `${name}: expected at least one ${issue.origin === 'string' ? 'character' : 'item'}, found none`,
      'write one, or remove the key',
    );
  }
  if (issue.code === 'invalid_union') return unionProblem(issue, found, name, path, root, at);
  return problem('BAD_VALUE', at(path), `${name}: ${issue.message}, got ${describe(found)}`, 'correct the value');
}

/** Report the alternative of a union that matched furthest. */
function unionProblem(
  issue: Extract<Issue, {code: 'invalid_union'}>,
  found: unknown,
  name: string,
  path: Path,
  root: unknown,
  at: PlaceFinder,
): Problem {
  let best: Issue | undefined;
  for (const issues of issue.errors) {
    const first = issues[0];
    if (first && first.path.length > (best?.path.length ?? 0)) best = first;
  }
  if (best) return issueProblem({...best, path: [...path, ...best.path]} as Issue, root, at);
  const kinds = issue.errors.flatMap(issues =>
    issues.map(i => (i.code === 'invalid_type' ? i.expected : i.code === 'invalid_value' ? i.values.join(' | ') : '')),
  );
  const expected = [...new Set(kinds.filter(Boolean))].join(' or ');
  return problem(
    'WRONG_TYPE',
    at(path),
    `${name}: expected ${expected || 'another form'}, got ${describe(found)}`,
    'see docs/formats for the forms it takes',
  );
}

const words: Record<string, string> = {
  string: 'text',
  object: 'keys and values',
  array: 'a list',
  record: 'keys and values',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  null: 'nothing',
};

function wrongType(expected: string, found: unknown, name: string, place: Place): Problem {
  const hint = typeHint(expected, found);
  return problem('WRONG_TYPE', place, `${name}: expected ${words[expected] ?? expected}, got ${describe(found)}`, hint);
}

function typeHint(expected: string, found: unknown): string {
  if (expected === 'string' && ['number', 'boolean'].includes(typeof found)) return 'put quotes around the value';
  if (expected === 'string' && found === null) return 'write the text after the colon, or remove the key';
  if (expected === 'array') return 'write a list: one "- item" a line';
  if (['object', 'record'].includes(expected)) {
    if (found === null) return 'indent its keys below it, or remove it';
    const [, key, colon] =
      typeof found === 'string' ? (/^([A-Za-z_][\w.-]*)(:?)(?![/\w.-]*$)/.exec(`${found} `) ?? []) : [];
    if (key !== undefined) return colon ? `put a blank after "${key}:"` : `is the ":" after ${key} missing?`;
  }
  return `write ${words[expected] ?? expected}`;
}

function describe(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'keys and values';
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  return `the ${typeof value} ${String(value)}`;
}

function pathName(path: Path): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step + 1}]` : i > 0 ? `.${step}` : step)).join('');
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string, unknown>)[String(step)];
  }
  return at;
}

/**
 * Keys without effect, each once in a file. A map whose schema names no keys is free. `depth`: how far down to look.
 *
 *     keyProblems(templateSchema, {id: 'x', colour: 'red'}, notYet.template, at) // unknown key "colour" …
 */
export function* keyProblems(
  schema: z.ZodType,
  value: unknown,
  without: KeysWithoutEffect,
  at: PlaceFinder,
  path: Path = [],
  told = new Set<string>(),
): Generator<Problem> {
  if (value === null || typeof value !== 'object') return;
  const [inner, ...others] = alternatives(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    for (const [i, item] of value.slice(0, MAX_ITEMS).entries())
      yield* keyProblems(inner.element as z.ZodType, item, without, at, [...path, i], told);
  } else if (inner instanceof z.ZodRecord && !Array.isArray(value)) {
    for (const [key, item] of Object.entries(value).slice(0, MAX_ITEMS))
      yield* keyProblems(inner.valueType as z.ZodType, item, without, at, [...path, key], told);
  }
  if (Array.isArray(value)) return;
  const shapes = [inner, ...others].flatMap(each => (each instanceof z.ZodObject ? [each.shape as Shape] : []));
  const shape: Shape = Object.assign({}, ...shapes);
  const known = Object.keys(shape);
  if (known.length === 0) return;
  for (const [key, item] of Object.entries(value).slice(0, MAX_ITEMS)) {
    const inside = shape[key];
    const name = [...path, key].filter(step => typeof step === 'string').join('.');
    const found = told.has(name)
      ? undefined
      : keyProblem([...path, key], value, {known, without}, () => at([...path, key], 'key'));
    if (found) {
      told.add(name);
      yield found;
    } else if (inside) yield* keyProblems(inside, item, without, at, [...path, key], told);
  }
}

type Shape = Record<string, z.ZodType>;

/** Unknown keys show among the first; a file with thousands of them has them on purpose. */
const MAX_ITEMS = 1000;

/** The schema without its wrappers; of a union, its alternatives, lists and records first. */
function alternatives(schema: z.ZodType): z.ZodType[] {
  let at = schema;
  while (at instanceof z.ZodOptional || at instanceof z.ZodDefault || at instanceof z.ZodNullable)
    at = at.unwrap() as z.ZodType;
  if (!(at instanceof z.ZodUnion)) return [at];
  const all = (at.options as z.ZodType[]).flatMap(alternatives);
  const isOpen = (each: z.ZodType) => each instanceof z.ZodArray || each instanceof z.ZodRecord;
  return [...all.filter(isOpen), ...all.filter(each => !isOpen(each))];
}
