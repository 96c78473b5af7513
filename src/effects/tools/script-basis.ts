import {closeSync, readdirSync, readSync, realpathSync, type Stats, statSync} from 'node:fs';
import {join, resolve, sep} from 'node:path';
import type {ScriptOperands} from '../../policy/command/script-operands.ts';
import {errorCode, failure, isFailure} from '../tool/failure.ts';
import {pace} from '../tool/pace.ts';
import type {ToolContext, ToolFailure} from '../tool/tool.ts';
import {closeFolder, openFolder} from '../workspace/folder.ts';
import {nameMatcher} from '../workspace/name-pattern.ts';
import {openPlace, readPlace} from '../workspace/open-file.ts';
import {makeToolPath, type ToolPath} from '../workspace/place.ts';
import {fileDigest, unreadDigest} from './basis.ts';

const MOST_FILES = 64;
const MOST_BYTES = 4 * 1024 * 1024;

/** Basis key for all files of the workspace together. */
export const WHOLE = 'workspace';

const script =
  /\.(?:sh|bash|zsh|ksh|fish|py|pyw|js|cjs|mjs|ts|cts|mts|jsx|tsx|rb|pl|pm|php|lua|awk|sed|tcl|exp|jl|R|groovy|ps1|bat|mk|sql|jq|vim|el|jar|pyc|wasm|so|go|rs|java|kts?|scala|cs|fsx|swift|hs|exs?|clj|cr|nim|zig|dart|tf|nix)$/i;

/** Files that a line may run or read. `read`: all files that it reads; undefined if it may read any. */
export interface ReadFiles extends Pick<ScriptOperands, 'named' | 'possible'> {
  read: readonly string[] | undefined;
}

/**
 * State of the files that a line may run or read: `script deploy.sh` → `sha256:…`, `missing` or `unreadable`. Content is
 * read in the workspace only, never through a link out of it. Files elsewhere, large files and files beyond MOST_FILES
 * are identified by inode, size and ctime, which no program can set back; so is the whole workspace, unless all files
 * that the line reads are known. A failure: the workspace cannot be compared.
 */
export async function scriptBasis(
  {named, possible, read}: ReadFiles,
  context: ToolContext,
): Promise<Record<string, string> | ToolFailure> {
  const basis: Record<string, string> = {};
  const breathe = pace(context.signal);
  let left = MOST_FILES;
  let whole = read === undefined;
  const add = async (path: string, sure: boolean, kind = 'script'): Promise<void> => {
    await breathe();
    const found = find(path, context);
    // It may read everything below, as far as links lead.
    if (kind === 'file' && found === 'directory') whole = true;
    if (typeof found === 'string') {
      if (sure && !(kind === 'file' && leavesWorkspace(path))) basis[`${kind} ${path}`] = found;
      return;
    }
    if (!sure && !isProgram(found, context)) return;
    // Files elsewhere are not part of the workspace, and others may change them at any time.
    if (kind === 'file' && !found.at) return;
    const {at, stat} = found;
    const readable = at !== undefined && stat.size <= MOST_BYTES && left-- > 0;
    basis[`${kind} ${path}`] = readable ? await digest(at, context) : unreadDigest(stat);
  };
  for (const path of named) for (const each of expand(path, context)) await add(each, true);
  for (const path of possible) for (const each of expand(path, context)) await add(each, false);
  const others = (read ?? []).filter(path => !named.includes(path));
  for (const path of others) for (const each of expand(path, context)) await add(each, true, 'file');
  if (!whole) return basis;
  const state = await context.workspaceState();
  if ('digest' in state) return {...basis, [WHOLE]: state.digest};
  return failure(
    'FAILED',
    `nobody is asked about this command: it may read every file of the workspace, and an approval cannot be bound to them, because ${state.problem}. Remove or move files, or have a person allow this very line in allowlist.yaml`,
  );
}

interface Found {
  path: string;
  /** Path with links resolved, if in the workspace. */
  at: ToolPath | undefined;
  stat: Stats;
}

/** Find a regular file; a string says what is there instead. */
function find(path: string, {workspace}: ToolContext): Found | string {
  try {
    const real = realpathSync(resolve(workspace, path));
    const stat = statSync(real);
    if (stat.isDirectory()) return 'directory';
    if (!stat.isFile()) return 'unreadable';
    const root = realpathSync(workspace) + sep;
    const at = real.startsWith(root) ? makeToolPath('workspace', real.slice(root.length).split(sep)) : undefined;
    return {path, at, stat};
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '') ? 'missing' : 'unreadable';
  }
}

function leavesWorkspace(path: string): boolean {
  return path.startsWith('/') || path.split('/').includes('..');
}

/** Whether a word that may be a program names a file of the workspace that looks like one. */
function isProgram({path, at, stat}: Found, context: ToolContext): boolean {
  if (!at) return false;
  if ((stat.mode & 0o111) !== 0 || script.test(path)) return true;
  const opened = openPlace(context, at);
  if (isFailure(opened)) return false;
  try {
    const first = Buffer.alloc(2);
    return readSync(opened.fd, first, 0, 2, 0) === 2 && first.toString('latin1') === '#!';
  } finally {
    closeSync(opened.fd);
  }
}

async function digest(at: ToolPath, context: ToolContext): Promise<string> {
  const file = await readPlace(context, at, MOST_BYTES);
  return isFailure(file) ? 'unreadable' : fileDigest(file.bytes);
}

/** Expand a glob in the last path component; the result includes the glob itself. */
function expand(path: string, context: ToolContext): string[] {
  const at = path.lastIndexOf('/') + 1;
  const [above, name] = [path.slice(0, at), path.slice(at)];
  if (!/[*?[]/.test(name) || /[*?[]/.test(above) || above.startsWith('/')) return [path];
  const parts = above.split('/').filter(part => part !== '' && part !== '.');
  if (parts.includes('..')) return [path];
  const folder = openFolder(context, makeToolPath('workspace', parts));
  if (isFailure(folder)) return [path];
  try {
    const matches = nameMatcher(name);
    const names = readdirSync(folder.path).filter(matches).sort();
    return [path, ...names.slice(0, MOST_FILES * 2).map(each => join(above, each))];
  } finally {
    closeFolder(folder);
  }
}
