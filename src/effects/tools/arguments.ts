import type {z} from 'zod';
import {nearest} from '../../formats/common/diagnostic.ts';
import {type ToolName, tools} from '../../policy/tools.ts';
import {failure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';
import {schemaOf} from './schema.ts';

const MAX_ARGUMENTS = 20 * 1024 * 1024;

/** Argument names that other agents' tools use. */
const elsewhere: Readonly<Record<string, string>> = {
  file_path: 'path',
  filepath: 'path',
  filename: 'path',
  file: 'path',
  directory: 'path',
  dir: 'path',
  old_string: 'old',
  old_str: 'old',
  new_string: 'new',
  new_str: 'new',
  replace_all: 'all',
  file_text: 'content',
  contents: 'content',
  text: 'content',
  cmd: 'command',
  timeout: 'timeout_seconds',
  regex: 'pattern',
  query: 'pattern',
  include: 'glob',
  '-i': 'ignore_case',
  '-C': 'context',
  head_limit: 'limit',
};

/** Parse the arguments a model wrote, or explain what is wrong and what is expected, so that it can fix them. */
export function readArguments(tool: ToolName, text: string): {value: object} | ToolFailure {
  const value = text.trim() === '' ? {} : parse(text);
  if (typeof value === 'string') return invalid(tool, [value]);
  // Some models write null for omitted arguments.
  for (const key of Object.keys(value)) if (value[key] === null) delete value[key];
  const result = tools[tool].arguments.safeParse(value);
  if (result.success) return {value: result.data};
  return invalid(
    tool,
    result.error.issues.slice(0, 10).flatMap(issue => explain(tool, issue, value)),
  );
}

/** A string says what is wrong. */
function parse(text: string): Record<string, unknown> | string {
  if (text.length > MAX_ARGUMENTS) return `the arguments are longer than ${MAX_ARGUMENTS / 1024 / 1024} MB`;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    return `expected a JSON object, got ${describe(value)}`;
  } catch (error) {
    return `the arguments are not JSON: ${(error as Error).message.slice(0, 200)}`;
  }
}

function invalid(tool: ToolName, problems: readonly string[]): ToolFailure {
  return failure('INVALID_ARGUMENTS', `${problems.join('; ')}. ${tool} takes ${signature(tool)}`);
}

function explain(tool: ToolName, issue: z.core.$ZodIssue, root: object): string[] {
  const name = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(tools[tool].arguments.shape).filter(key => !Object.hasOwn(root, key));
    return issue.keys.slice(0, 5).map(key => {
      const other = Object.hasOwn(elsewhere, key) ? elsewhere[key] : undefined;
      const meant = known.find(each => each === other) ?? nearest(key, known);
      const near = name === '' ? meant : undefined;
      return `unknown argument ${JSON.stringify(key.slice(0, 60))}${near ? ` (did you mean "${near}"?)` : ''}`;
    });
  }
  const found = issue.path.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[step] : undefined),
    root,
  );
  if (found === undefined && name !== '') return [`"${name}" is missing`];
  if (issue.code === 'invalid_type') return [`"${name}" must be ${article(issue.expected)}, got ${describe(found)}`];
  if (issue.code === 'invalid_value')
    return [`"${name}" must be one of ${issue.values.map(String).join(', ')}, got ${describe(found)}`];
  if (issue.code === 'too_small' && issue.origin === 'string') return [`"${name}" must not be empty`];
  if (issue.code === 'too_small')
    return [
      `"${name}" must be at least ${issue.inclusive ? issue.minimum : Number(issue.minimum) + 1}, got ${describe(found)}`,
    ];
  return [`${name === '' ? '' : `"${name}": `}${issue.message}`];
}

function article(type: string): string {
  if (type === 'int') return 'a whole number';
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string')
    return `the string ${JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)}`;
  return `the ${typeof value} ${String(value)}`;
}

/** `{path: string, offset?: integer}` */
function signature(tool: ToolName): string {
  const {properties = {}, required = []} = schemaOf(tool) as {
    properties?: Record<string, {type?: string; enum?: string[]; const?: string}>;
    required?: string[];
  };
  const keys = Object.entries(properties).map(([key, {type, enum: words, const: word}]) => {
    const kind = word ? JSON.stringify(word) : (words?.map(item => JSON.stringify(item)).join('|') ?? type ?? 'value');
    return `${key}${required.includes(key) ? '' : '?'}: ${kind}`;
  });
  return `{${keys.join(', ')}}`;
}
