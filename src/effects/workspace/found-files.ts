import {type BigIntStats, lstatSync} from 'node:fs';
import {errorCode, isFailure} from '../tool/failure.ts';
import {pace} from '../tool/pace.ts';
import {type ByteFolder, byteFolder, enterFolder, inFolder, leaveFolder, listNames, textOfName} from './byte-folder.ts';
import {OUTPUT_FOLDER, UNTRUSTED_FOLDER} from './changed-files.ts';
import {modes, readContent} from './file-content.ts';
import {
  type FoundFile,
  isProvenUnchanged,
  leaveOut,
  type Scan,
  type ScanContext,
  type WorkspaceFindings,
} from './findings.ts';
import {openFolder} from './folder.ts';
import {isGitName} from './git-name.ts';
import {type IgnoreRules, ignoring, isNeverSearched, noRules, withIgnoreFiles} from './ignore-rules.ts';
import {below, blobIn, isSkipped, learnPlaces, modeIn, nameIn, placeIn} from './index-state.ts';
import {makeToolPath} from './place.ts';
import {isTemporary} from './replace-file.ts';

const MOST_ENTRIES = 200_000;
const DEEPEST = 200;
const MAX_PATH = 4096;

/**
 * Compare the workspace with the index: all of it, or only these names, ignored or not, and what is below them. A
 * changed `.gitignore` makes it compare everything. Follows no links and opens only regular files.
 */
export async function findFiles(where: ScanContext, paths?: readonly string[]): Promise<WorkspaceFindings> {
  const scan: Scan = {
    ...where,
    found: {changed: [], same: [], leftOut: []},
    seen: new Set(),
    hidden: [],
    left: MOST_ENTRIES,
    breathe: pace(),
  };
  const root = openFolder(where, makeToolPath('workspace', []));
  if (isFailure(root)) throw new Error(root.error);
  const top = byteFolder(root);
  try {
    const all = !paths || paths.some(path => path.split('/').at(-1) === '.gitignore');
    if (all) {
      learnPlaces(where.state);
      await scanFolder(scan, top, '', noRules, false);
      addDeleted(scan, '');
    }
    for (const path of new Set(paths)) await scanPath(scan, top, path);
  } finally {
    leaveFolder(top);
  }
  const {changed, same, leftOut} = scan.found;
  return paths
    ? {changed: withoutDuplicates(changed), same: withoutDuplicates(same), leftOut: [...new Set(leftOut)]}
    : scan.found;
}

/** Remove duplicates: one path may be below another. */
function withoutDuplicates(files: readonly FoundFile[]): FoundFile[] {
  return [...new Map(files.map(file => [file.name, file])).values()];
}

/** Scan a single path; the folders above are opened one by one. */
async function scanPath(scan: Scan, top: ByteFolder, path: string): Promise<void> {
  const names = path.split('/').filter(part => part !== '' && part !== '.');
  const last = names.pop();
  if (last === undefined || names.includes('..') || last === '..') return;
  let folder = top;
  let rules = noRules;
  let ignored = false;
  const prefix: string[] = [];
  try {
    for (const name of names) {
      if (isNotAgentsFile(name, prefix.length)) return;
      rules = withRules(folder, prefix.length, rules, () => true);
      prefix.push(name);
      ignored ||= isNeverSearched(name) || ignoring(rules, textParts(prefix.join('/')), true) === 'ignored';
      const next = enterFolder(folder, name);
      if (folder !== top) leaveFolder(folder);
      folder = next;
    }
    rules = withRules(folder, prefix.length, rules, () => true);
    const stat = isNotAgentsFile(last, prefix.length) ? undefined : lookAt(folder, last);
    const named = stat?.isDirectory() === false;
    if (stat) await scanEntry(scan, folder, last, [...prefix, last].join('/'), stat, rules, named ? 'never' : ignored);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    if (folder !== top) leaveFolder(folder);
  }
  addDeleted(scan, [...names, last].join('/'));
}

async function scanFolder(
  scan: Scan,
  folder: ByteFolder,
  path: string,
  above: IgnoreRules,
  ignored: boolean,
): Promise<void> {
  const entries = listNames(folder);
  const depth = path === '' ? 0 : path.split('/').length;
  if (!entries || depth > DEEPEST || entries.length > scan.left) {
    scan.hidden.push(path);
    leaveOut(scan, path, !entries ? 'cannot be read' : depth > DEEPEST ? 'is too deep' : 'has too many files');
    return;
  }
  scan.left -= entries.length;
  const rules = withRules(folder, depth, above, name => entries.includes(name));
  for (const name of entries) {
    if (isNotAgentsFile(name, depth)) continue;
    const stat = lookAt(folder, name);
    const full = path === '' ? name : `${path}/${name}`;
    // Almost always there is nothing to await.
    const work = stat && scanEntry(scan, folder, name, full, stat, rules, ignored);
    if (work) await work;
    const pause = scan.breathe();
    if (pause) await pause;
  }
}

function scanEntry(
  scan: Scan,
  folder: ByteFolder,
  name: string,
  path: string,
  stat: BigIntStats,
  rules: IgnoreRules,
  /** Whether the parent is ignored: then only tracked files count, as in git. 'never': the entry counts anyway. */
  above: boolean | 'never',
): Promise<void> | undefined {
  const isFolder = stat.isDirectory();
  const isIgnored = () => above === true || ignoring(rules, textParts(path), isFolder) === 'ignored';
  if (isFolder) {
    const [from, to] = below(scan.state, path);
    const ignored = isNeverSearched(name) || isIgnored();
    return from === to && ignored ? undefined : descend(scan, folder, name, path, rules, ignored);
  }
  const at = placeIn(scan.state, path);
  if (at === undefined && above !== 'never' && isIgnored()) return undefined;
  if (at !== undefined) scan.seen.add(path);
  return at !== undefined && isProvenUnchanged(scan, at, path, stat)
    ? undefined
    : read(scan, folder, name, path, stat, at);
}

/** Read a file whose content the index does not prove. */
async function read(
  scan: Scan,
  folder: ByteFolder,
  name: string,
  path: string,
  stat: BigIntStats,
  at: number | undefined,
): Promise<void> {
  if (path.length > MAX_PATH) return leaveOut(scan, path, 'has too long a path');
  if (stat.isSymbolicLink() && isModulesName(textOfName(name)))
    return leaveOut(scan, path, 'is a link, which git refuses under this name');
  try {
    const content = await readContent(folder, name, stat, scan.gitDir);
    if ('leftOut' in content) return leaveOut(scan, path, content.leftOut);
    const same = at !== undefined && blobIn(scan.state, at) === content.id && modeIn(scan.state, at) === content.mode;
    scan.found[same ? 'same' : 'changed'].push({name: path, content});
  } catch (error) {
    const code = errorCode(error);
    // It vanished or changed its type in between; the next scan sees what it is.
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENXIO' || code === 'EINVAL') scan.seen.delete(path);
    else if (code === 'EACCES' || code === 'EPERM') leaveOut(scan, path, 'cannot be read');
    else throw error;
  }
}

async function descend(
  scan: Scan,
  folder: ByteFolder,
  name: string,
  path: string,
  rules: IgnoreRules,
  ignored: boolean,
): Promise<void> {
  let next: ByteFolder;
  try {
    next = enterFolder(folder, name);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOENT' && code !== 'ELOOP' && code !== 'ENOTDIR') {
      scan.hidden.push(path);
      leaveOut(scan, path, 'cannot be read');
    }
    return;
  }
  try {
    await scanFolder(scan, next, path, rules, ignored);
  } finally {
    leaveFolder(next);
  }
}

/** Index entries at or below the path that were not seen are deleted, except skipped and unreadable ones. */
function addDeleted(scan: Scan, path: string): void {
  const {state, seen, hidden} = scan;
  const at = placeIn(state, path);
  const [from, to] = below(state, path);
  const candidates = at === undefined ? [] : [at];
  for (let i = from; i < to; i++) candidates.push(i);
  for (const i of candidates) {
    const name = nameIn(state, i);
    if (seen.has(name) || isSkipped(state, i) || modeIn(state, i) === modes.repository) continue;
    if (hidden.some(folder => folder === '' || name.startsWith(`${folder}/`))) continue;
    if (name.split('/').some((part, depth) => isNotAgentsFile(part, depth))) continue;
    scan.found.changed.push({name, content: undefined});
  }
}

function withRules(folder: ByteFolder, depth: number, above: IgnoreRules, has: (name: string) => boolean): IgnoreRules {
  const opened = {fd: folder.fd, path: textOfName(folder.path), trail: []};
  return withIgnoreFiles(opened, depth, above, name => name === '.gitignore' && has(name));
}

function textParts(path: string): string[] {
  return textOfName(path).split('/');
}

function lookAt(folder: ByteFolder, name: string): BigIntStats | undefined {
  return lstatSync(inFolder(folder, name), {throwIfNoEntry: false, bigint: true});
}

/** Not the agent's work: any spelling of `.git`, and the daemon's own files. */
function isNotAgentsFile(bytes: string, depth: number): boolean {
  const name = textOfName(bytes);
  if (isGitName(name) || isTemporary(name)) return true;
  return depth === 0 && (name === OUTPUT_FOLDER || name === UNTRUSTED_FOLDER || /^\.git-found-/.test(name));
}

/** Git does not accept a link of this name in an index. */
function isModulesName(name: string): boolean {
  const folded = name.normalize('NFKD').replace(/[\p{M}\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
  return /^(?:\.gitmodules|gitmod~\d|gi7eb[0-9a-f]~\d)/i.test(folded);
}
