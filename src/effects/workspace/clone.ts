import {existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {isBranchName} from '../../formats/clone-address.ts';
import {markName, markOf} from '../sandbox/environment.ts';
import {endLeftovers} from '../sandbox/leftovers.ts';
import {markedProcesses} from '../sandbox/processes.ts';
import {linkText} from '../sandbox/profile.ts';
import {failure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';
import {type CleanGitResult, cleanEnvironment, cleanGit} from './clean-git.ts';
import {recordClone} from './clone-record.ts';
import {cloneSource} from './clone-source.ts';
import {gitDirOf, gitDirs, makeGitDir} from './git-dir.ts';

const LONGEST_MS = 10 * 60_000;

const BRANCHES = '+refs/heads/*:refs/remotes/origin/*';
/** A shallow source yields the commits it has. */
const FETCH = ['fetch', '-q', '--no-recurse-submodules', '--update-shallow'];

/** Names for the clone record, from the template's settings. */
export function cloneNames(
  {home, agent}: {home: string; agent: string},
  clone: string,
  branch = `agentdir/${agent}`,
): {clone: string; branch: string} {
  const source = cloneSource(home, clone);
  return {clone: 'refused' in source ? clone : source.shown, branch};
}

/**
 * Start a workspace from a repository: its whole history, the remote `origin`, and a branch of its own. Copies no
 * settings or hooks, shares nothing with the source, and runs nothing in it: no filters, hooks or submodules. Prepares
 * everything aside and moves it into place, so that a crash leaves nothing half-done. Undefined: success.
 */
export async function takeClone(
  {home, agent}: {home: string; agent: string},
  clone: string,
  wanted: string | undefined,
  signal?: AbortSignal,
): Promise<ToolFailure | undefined> {
  const aside = join(gitDirs(home), `${agent}.clone`);
  if (existsSync(join(aside, 'ready'))) return moveIntoPlace(home, agent, aside);
  const no = (why: string) => failure('FAILED', `the workspace could not be cloned from ${why}`);
  const source = cloneSource(home, clone);
  if ('refused' in source) return no(`what workspace: clone: names: ${source.refused}`);
  const {url, kept, shown} = source;
  const other = otherFiles(home, agent);
  if (other !== undefined)
    return no(`${shown}: ${other}, and is not overwritten; move it away, or take clone: out of the template`);
  const {branch} = cloneNames({home, agent}, clone, wanted);
  if (!isBranchName(branch)) return no(`${shown}: ${branch} is not a branch name`);
  // A fetch outlives a killed daemon: git waits for the remote forever.
  const mark = markOf('clone', home, agent);
  await endLeftovers(mark, markedProcesses);
  rmSync(aside, {recursive: true, force: true});
  mkdirSync(join(aside, 'files'), {recursive: true, mode: 0o700});
  const gitDir = join(aside, 'git');
  try {
    const remote = `[remote "origin"]\n\turl = "${kept.replace(/[\\"]/g, '\\$&')}"\n\tfetch = ${BRANCHES}\n`;
    makeGitDir(gitDir, 'main', remote);
    const how = {environment: {...userEnvironment(), [markName]: mark}, timeoutMs: LONGEST_MS, signal};
    const fetched = await cleanGit(gitDir, [...FETCH, url, BRANCHES], how);
    if (fetched.code !== 0) return no(`${shown}: ${wordsOf(fetched)}`);
    const start = await startOf(gitDir, url, branch, how);
    if (typeof start !== 'string') return no(`${shown}: ${wordsOf(start)}`);
    const failed = await checkOut(gitDir, join(aside, 'files'), branch, start);
    if (failed) return no(`${shown}: ${wordsOf(failed)}`);
    recordClone(gitDir, {clone: shown, branch, start: start === '' ? undefined : start});
    writeFileSync(join(aside, 'files/.git'), linkText(agent), {mode: 0o444});
    writeFileSync(join(aside, 'ready'), '');
    return moveIntoPlace(home, agent, aside);
  } finally {
    if (!existsSync(join(aside, 'ready'))) rmSync(aside, {recursive: true, force: true});
  }
}

/** Start commit: the remote branch of that name, otherwise the remote HEAD; '' if there is no commit yet. */
async function startOf(
  gitDir: string,
  url: string,
  branch: string,
  how: Parameters<typeof cleanGit>[2],
): Promise<string | CleanGitResult> {
  const same = await cleanGit(gitDir, ['rev-parse', '-q', '--verify', `refs/remotes/origin/${branch}^{commit}`]);
  if (same.code === 0) return same.stdout.toString().trim();
  const said = await cleanGit(gitDir, ['ls-remote', '-q', url, 'HEAD'], how);
  if (said.code !== 0) return said;
  const [id = ''] = said.stdout.toString().split('\t');
  if (id === '') return onlyBranch(gitDir);
  const there = await cleanGit(gitDir, ['cat-file', '-e', `${id}^{commit}`]);
  // The remote HEAD is a commit on no branch.
  const more = there.code === 0 ? there : await cleanGit(gitDir, [...FETCH, url, 'HEAD'], how);
  return more.code === 0 ? id : more;
}

/** The remote HEAD names a missing branch: use the only branch; '' if there is none. */
async function onlyBranch(gitDir: string): Promise<string | CleanGitResult> {
  const format = '--format=%(objectname) %(refname:lstrip=3)';
  const said = await cleanGit(gitDir, ['for-each-ref', format, 'refs/remotes/origin/']);
  if (said.code !== 0) return said;
  const [first, ...others] = said.stdout.toString().split('\n').filter(Boolean);
  if (first === undefined || others.length === 0) return first?.split(' ')[0] ?? '';
  const names = [first, ...others].map(line => line.slice(line.indexOf(' ') + 1)).join(', ');
  return {...said, code: 1, stderr: `error: its HEAD names no branch that is there; name one as branch: ${names}`};
}

async function checkOut(
  gitDir: string,
  files: string,
  branch: string,
  start: string,
): Promise<CleanGitResult | undefined> {
  writeFileSync(join(gitDir, 'HEAD'), `ref: refs/heads/${branch}\n`);
  if (start === '') return undefined;
  // Check completeness now: otherwise the first undo would fail.
  const whole = await cleanGit(gitDir, ['rev-list', '--count', start]);
  if (whole.code !== 0) return whole;
  const moved = await cleanGit(gitDir, ['update-ref', '-m', 'clone', `refs/heads/${branch}`, start]);
  if (moved.code !== 0) return moved;
  const done = await cleanGit(gitDir, [`--work-tree=${files}`, 'read-tree', '-m', '-u', start]);
  return done.code === 0 ? undefined : done;
}

/** A killed process may have done some of the steps already. */
function moveIntoPlace(home: string, agent: string, aside: string): ToolFailure | undefined {
  const target = join(home, 'workspaces', agent);
  if (existsSync(join(aside, 'files'))) {
    const other = otherFiles(home, agent);
    if (other !== undefined) return failure('FAILED', `the clone cannot be moved into place: ${other}`);
    mkdirSync(join(home, 'workspaces'), {recursive: true});
    rmSync(join(target, '.git'), {force: true});
    renameSync(join(aside, 'files'), target);
  }
  const gitDir = gitDirOf(home, agent);
  if (existsSync(join(aside, 'git'))) {
    // A repository without commits, created before the template had clone:.
    rmSync(gitDir, {recursive: true, force: true});
    renameSync(join(aside, 'git'), gitDir);
  }
  rmSync(aside, {recursive: true, force: true});
  return undefined;
}

/** Describe existing files or history that a clone must not replace. */
function otherFiles(home: string, agent: string): string | undefined {
  const path = join(home, 'workspaces', agent);
  const stat = lstatSync(path, {throwIfNoEntry: false});
  if (stat && !stat.isDirectory()) return `workspaces/${agent} is not a folder`;
  if (stat && readdirSync(path).some(name => name !== '.git' || !isOurLink(path, agent)))
    return `workspaces/${agent} has files already`;
  const gitDir = gitDirOf(home, agent);
  return existsSync(join(gitDir, 'logs/HEAD')) ? `workspaces/${agent} has a history already` : undefined;
}

function isOurLink(workspace: string, agent: string): boolean {
  const path = join(workspace, '.git');
  return lstatSync(path).isFile() && readFileSync(path, 'utf8') === linkText(agent);
}

/** Environment with the user's git and ssh credentials. Never prompts, and allows no address that runs a program. */
function userEnvironment(): NodeJS.ProcessEnv {
  const {
    GIT_CONFIG_NOSYSTEM: _,
    GIT_CONFIG_GLOBAL: __,
    HOME: ___,
    GIT_NO_LAZY_FETCH: ____,
    ...clean
  } = cleanEnvironment();
  const wanted =
    /^(?:HOME|USER|LOGNAME|XDG_CONFIG_HOME|XDG_RUNTIME_DIR|SSH_AUTH_SOCK|SSL_CERT_FILE|SSL_CERT_DIR|GIT_CONFIG_(?:GLOBAL|NOSYSTEM)|GIT_SSL_CAINFO|(?:https?|all|no)_proxy)$/i;
  const kept = Object.entries(process.env).filter(([name]) => wanted.test(name));
  return {
    ...clean,
    ...Object.fromEntries(kept),
    GIT_ALLOW_PROTOCOL: 'https:http:ssh:git:file',
    GIT_SSH_COMMAND: `${process.env.GIT_SSH_COMMAND ?? 'ssh'} -oBatchMode=yes`,
    GIT_ASKPASS: 'true',
    SSH_ASKPASS: 'true',
  };
}

function wordsOf({code, stderr}: CleanGitResult): string {
  if (code === -1) return `it was given up, or took longer than ${LONGEST_MS / 60_000} minutes`;
  const lines = stderr.split('\n').filter(line => /^(?:fatal|error|ssh|.*denied)/i.test(line));
  return (lines[0] ?? stderr.split('\n')[0] ?? '').replace(/\/\/[^/\s]*@/g, '//').slice(0, 300) || 'git failed';
}
