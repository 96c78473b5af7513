import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {exit, UserError} from '../formats/common/errors.ts';
import {isId} from '../formats/common/values.ts';
import {setSetting} from '../formats/settings.ts';
import {parseTasks} from '../formats/task/task-parse.ts';
import {makeFolders} from './disk/make-folders.ts';
import {commitOnly, git} from './git/git.ts';

/** Paths that git ignores in a home: derived files, raw input, and workspaces, which are repositories of their own. */
export const ignoredInHome = [
  '.agentdir/',
  '.agentdir-*.tmp',
  '.workspaces/',
  'workspaces/*',
  '!workspaces/.gitkeep',
  'NEEDS_YOU.md',
  'inbox/*.jsonl',
  'inbox/*.jsonl?*',
  'inbox/rejected/',
];

/** Files and folders that a new home copies from the package's own home. */
const copiedPaths = ['agentdir.yaml', 'allowlist.yaml', 'templates', 'memory', 'playbooks', 'workflows', 'schemas'];
const emptyFolders = ['sessions', 'inbox', 'workspaces'];

export interface CreatedHome {
  dir: string;
  made: string[];
  /** Files that already existed and were not changed. */
  left: string[];
  newRepository: boolean;
  commit: string | undefined;
}

/** Create a home in `dir` from the package's own home at `source`. Never overwrites a file. */
export async function createHome(dir: string, source: string): Promise<CreatedHome> {
  try {
    refuseObstacles(dir);
    makeFolder(dir);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`cannot create ${dir}: ${(error as Error).message}`, exit.usage, 'choose another folder');
  }
  const version = await git(dir, ['--version']);
  if (version.code !== 0)
    throw new UserError(
      'git is needed and was not found',
      exit.failed,
      'install git, for example: apt-get install git',
    );
  const made: string[] = [];
  const left: string[] = [];
  const write = (path: string, make: (target: string) => void) => {
    const target = join(dir, path);
    if (existsSync(target)) {
      left.push(path);
      return;
    }
    makeFolders(dirname(target));
    make(target);
    made.push(path);
  };
  for (const path of copiedPaths.flatMap(name => filesBelow(source, name))) {
    if (path === 'agentdir.yaml') write(path, target => writeFileSync(target, settingsFor(dir, source), {flag: 'wx'}));
    else write(path, target => copyFileSync(join(source, path), target));
  }
  write('tasks/approvals.task.md', target => writeFileSync(target, emptyQueue(source), {flag: 'wx'}));
  for (const folder of emptyFolders) write(`${folder}/.gitkeep`, target => writeFileSync(target, ''));
  for (const folder of ['pending', 'approved', 'rejected']) makeFolders(join(dir, 'approvals', folder));
  ignore(dir, made);
  const newRepository = !existsSync(join(dir, '.git'));
  if (newRepository) await must(dir, ['init', '--quiet']);
  const commit = made.length > 0 ? await commitFiles(dir, made) : undefined;
  return {dir, made, left, newRepository, commit};
}

/** Before writing: throw if a path that must be a folder is a file or a link. */
function refuseObstacles(dir: string): void {
  const places = ['', ...copiedPaths, ...emptyFolders, 'tasks', 'approvals'].filter(name => !name.includes('.'));
  for (const name of places) {
    const found = lstatSync(join(dir, name), {throwIfNoEntry: false});
    if (
      !found ||
      found.isDirectory() ||
      (name === '' && found.isSymbolicLink() && existsSync(dir) && statSync(dir).isDirectory())
    )
      continue;
    throw new UserError(
      `${join(dir, name)} is ${found.isSymbolicLink() ? 'a link' : 'not a directory'}`,
      exit.usage,
      'move it out of the way; nothing was written',
    );
  }
}

/** Create one folder at a time: Node's recursive mkdir never returns below /proc. */
function makeFolder(dir: string): void {
  if (existsSync(dir)) return;
  if (dirname(dir) !== dir) makeFolder(dirname(dir));
  mkdirSync(dir);
}

function filesBelow(source: string, path: string): string[] {
  if (!statSync(join(source, path)).isDirectory()) return [path];
  return readdirSync(join(source, path), {withFileTypes: true})
    .filter(entry => !entry.name.startsWith('.') && !entry.name.endsWith('~'))
    .flatMap(entry => filesBelow(source, `${path}/${entry.name}`));
}

function settingsFor(dir: string, source: string): string {
  const text = readFileSync(join(source, 'agentdir.yaml'), 'utf8');
  const name = basename(dir);
  return isId(name) ? setSetting(text, ['name'], name) : text;
}

/** The package's approval queue without its own pending requests. */
function emptyQueue(source: string): string {
  const text = readFileSync(join(source, 'tasks/approvals.task.md'), 'utf8');
  const first = parseTasks(text).tasks[0];
  return first ? `${text.slice(0, first.start).trimEnd()}\n` : text;
}

/** Add missing lines to .gitignore. */
function ignore(dir: string, made: string[]): void {
  const path = join(dir, '.gitignore');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const lines = new Set(text.split(/\r?\n/));
  const missing = ignoredInHome.filter(line => !lines.has(line));
  if (missing.length === 0) return;
  const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  writeFileSync(path, `${text}${gap}# Agentdir\n${missing.join('\n')}\n`);
  made.push('.gitignore');
}

async function commitFiles(dir: string, paths: readonly string[]): Promise<string> {
  await must(dir, ['add', '--force', '--', ...paths]);
  const done = await commitOnly(dir, paths, 'home: created by agentdir init');
  if ('failed' in done) throw new UserError(`git commit failed: ${done.failed}`);
  return done.commit;
}

async function must(dir: string, args: readonly string[]): Promise<string> {
  const result = await git(dir, args);
  if (result.code !== 0)
    throw new UserError(
      `git ${args.find(arg => /^[a-z-]+$/.test(arg) && arg !== '-c')} failed: ${result.stderr.trim() || result.stdout.trim()}`,
    );
  return result.stdout;
}
