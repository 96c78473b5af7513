import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect} from 'vitest';
import type {ToolResult} from '../../src/effects/tool/tool.ts';
import type {ToolName} from '../../src/policy/tools.ts';
import {type ToolHome, toolHome} from '../effects/tool-home.ts';
import {entriesBelow} from '../entries-below.ts';

export const SECRET = 'the secret of somebody else';

const guardedFiles = [
  'secret.txt',
  'allowlist.yaml',
  'agentdir.yaml',
  'templates/coder.agent.yaml',
  'approvals/pending/1.approval.md',
  'sessions/coder-1.session.yaml',
  'workspaces/other/file',
  '.workspaces/coder.git/config',
  '.agentdir/lock',
  '.git/config',
  '.git/hooks/pre-commit',
];

/** A home with something to steal, and to spoil, all around the workspace. */
export function guarded(): ToolHome {
  const made = toolHome();
  for (const file of guardedFiles) {
    mkdirSync(join(made.home, file, '..'), {recursive: true});
    writeFileSync(join(made.home, file), SECRET);
  }
  mkdirSync(join(made.workspace, 'sub'));
  return made;
}

/** Outside the workspace and what tests put into memory and tasks, nothing came, went or changed. */
export function untouched(home: string): void {
  for (const file of guardedFiles) expect(readFileSync(join(home, file), 'utf8'), file).toBe(SECRET);
  const outside = entriesBelow(home)
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(home.length + 1))
    .filter(path => !/^(?:memory|tasks|workspaces\/coder)\//.test(path));
  expect(outside.sort()).toEqual([...guardedFiles].sort());
  expect(readdirSync(join(home, 'workspaces')).sort()).toEqual(['coder', 'other']);
}

/** Every way in: its tool, and what that takes beside the path. */
const ways = {
  read: ['read_file', {}],
  list: ['list_directory', {}],
  glob: ['glob', {pattern: '**'}],
  grep: ['grep', {pattern: 'secret'}],
  write: ['write_file', {content: 'overwritten'}],
  create: ['create_file', {content: 'created'}],
  edit: ['edit_file', {old: 'secret', new: 'stolen'}],
  folder: ['create_directory', {}],
} satisfies Record<string, [ToolName, object]>;

/** All of them, one after the other, with the same path. */
export async function everywhere({run}: ToolHome, path: string): Promise<Record<string, ToolResult>> {
  const results: Record<string, ToolResult> = {};
  for (const [way, [tool, args]] of Object.entries(ways)) results[way] = await run(tool, {path, ...args});
  return results;
}

/** The code of each result, or `ok`. */
export function codes(results: Record<string, ToolResult>): Record<string, string> {
  expect(JSON.stringify(results)).not.toContain(SECRET);
  return Object.fromEntries(
    Object.entries(results).map(([how, result]) => [how, result.success ? 'ok' : String(result.code)]),
  );
}

/** All ways in give this. */
export const allOf = (code: string): Record<string, string> =>
  Object.fromEntries(Object.keys(ways).map(way => [way, code]));
