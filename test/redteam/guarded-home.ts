import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect} from 'vitest';
import type {ToolResult} from '../../src/effects/tools/tool.ts';
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

/** Every way in, with the same path. */
export async function everywhere({run}: ToolHome, path: string): Promise<Record<string, ToolResult>> {
  return {
    read: await run('read_file', {path}),
    list: await run('list_directory', {path}),
    glob: await run('glob', {pattern: '**', path}),
    grep: await run('grep', {pattern: 'secret', path}),
    write: await run('write_file', {path, content: 'overwritten'}),
    create: await run('create_file', {path, content: 'created'}),
    edit: await run('edit_file', {path, old: 'secret', new: 'stolen'}),
    folder: await run('create_directory', {path}),
  };
}

/** The code of each result, or `ok`. */
export function codes(results: Record<string, ToolResult>): Record<string, string> {
  expect(JSON.stringify(results)).not.toContain(SECRET);
  return Object.fromEntries(
    Object.entries(results).map(([how, result]) => [how, result.success ? 'ok' : String(result.code)]),
  );
}

/** All eight ways in give this. */
export const allOf = (code: string): Record<string, string> =>
  Object.fromEntries('read list glob grep write create edit folder'.split(' ').map(how => [how, code]));
