import {failure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';
import {isGitName} from './git-name.ts';

/** Folders that tools can reach: the agent's workspace, and the shared folders of the home. */
export type Root = 'workspace' | 'memory' | 'tasks';

/** A path that stays inside its root, as far as its text can tell. */
export interface ToolPath {
  root: Root;
  /** Components below the root; empty for the root itself. */
  parts: readonly string[];
  /** As tools accept it. */
  path: string;
}

const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;
const DEEPEST = 64;

/** `write` refers to a file. */
type Purpose = 'read' | 'write' | 'make folder';

/**
 * `memory/…` and `tasks/…` belong to the home, everything else to the workspace, including `./memory`. `workspace`: its
 * absolute path; programs print paths that start with it, so that prefix is read as `./`.
 */
export function parseToolPath(written: string, to: Purpose = 'read', workspace?: string): ToolPath | ToolFailure {
  const path = workspace === undefined ? written : withoutWorkspace(written, workspace);
  const bad = badText(path, to);
  if (bad !== undefined) return failure('INVALID_ARGUMENTS', `path: ${bad}`);
  if (/^(?:[/\\~]|[A-Za-z]:[/\\])/.test(path))
    return failure('DENIED', `${path}: paths are relative to the workspace; absolute ones are not allowed`);

  const parts = path.split('/').filter(part => part !== '' && part !== '.');
  if (parts.includes('..')) return failure('DENIED', `${path}: ".." is not allowed; name the path from the workspace`);
  if (parts.some(isGitName)) return failure('DENIED', `${path}: git's own files are not for agents`);
  if (to === 'write' && /\/\.?$/.test(path))
    return failure('INVALID_ARGUMENTS', 'path: ends with /, but is to be a file; create_directory makes folders');
  if (parts.length > DEEPEST) return failure('INVALID_ARGUMENTS', `path: deeper than ${DEEPEST} directories`);

  const [first] = parts;
  const ofHome = (first === 'memory' || first === 'tasks') && !path.startsWith('.');
  if (!ofHome) return makeToolPath('workspace', parts);
  if (to !== 'read') {
    const how = first === 'memory' ? 'remember adds to it' : 'create_task and update_task change tasks';
    const own = `for a folder of the workspace with that name write ./${first}/`;
    return failure('DENIED', `${path}: ${first}/ is the home's and is not written as files; ${how}; ${own}`);
  }
  return makeToolPath(first, parts.slice(1));
}

export function makeToolPath(root: Root, parts: readonly string[]): ToolPath {
  return {root, parts, path: shownPath(root, parts)};
}

/** Path by which a tool reaches this place again. */
export function shownPath(root: Root, parts: readonly string[]): string {
  const path = parts.join('/');
  if (root !== 'workspace') return path === '' ? root : `${root}/${path}`;
  return path === '' ? '.' : parts[0] === 'memory' || parts[0] === 'tasks' ? `./${path}` : path;
}

/** Turn an absolute path or glob below the workspace into a relative one. */
export function withoutWorkspace(path: string, workspace: string): string {
  if (path === workspace) return '.';
  return path.startsWith(`${workspace}/`) ? `./${path.slice(workspace.length + 1)}` : path;
}

function badText(path: string, to: Purpose): string | undefined {
  if (path.includes('\0')) return 'has a NUL character';
  if (/\p{Surrogate}/u.test(path)) return 'is not valid Unicode';
  if (to !== 'read' && /\p{Cc}/u.test(path)) return 'has a control character';
  if (Buffer.byteLength(path) > LONGEST_PATH) return `is longer than ${LONGEST_PATH} bytes`;
  if (path.split('/').some(part => Buffer.byteLength(part) > LONGEST_NAME))
    return `has a name longer than ${LONGEST_NAME} bytes`;
  return undefined;
}
