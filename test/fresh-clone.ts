import {execFileSync} from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {environment, git, root, temporary} from './cli/run.ts';

/**
 * What a clone of this repository is, with changes that are not committed yet: its files and a commit, and after that what `npm ci`
 * makes of it. The packages are the ones that are here already (.ci/run has just installed them); that package-lock.json
 * fits package.json is asked of npm.
 */
export async function freshClone(): Promise<string> {
  made ??= make();
  const clone = join(temporary(), 'agentdir');
  cpSync(await made, clone, {recursive: true, verbatimSymlinks: true});
  await git(clone, 'update-index', '-q', '--refresh');
  return clone;
}

/** Built once for each process that runs tests, and copied. */
let made: Promise<string> | undefined;

async function make(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-clone-'));
  process.once('exit', () => rmSync(dir, {recursive: true, force: true}));
  const clone = join(dir, 'agentdir');
  const listed = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], {cwd: root, encoding: 'utf8'});
  for (const path of new Set(listed.split('\0').filter(name => name !== ''))) {
    if (lstatSync(join(root, path), {throwIfNoEntry: false}) === undefined) continue;
    mkdirSync(dirname(join(clone, path)), {recursive: true});
    copyFileSync(join(root, path), join(clone, path));
  }
  await git(clone, 'init', '-q', '-b', 'main');
  await git(clone, 'add', '-A');
  await git(clone, 'commit', '-q', '-m', 'as cloned');
  run(clone, 'npm', ['ci', '--dry-run', '--offline', '--ignore-scripts']);
  appendFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  // As npm ci does at its end. What is built here already is taken along: the build compares it with the source, and makes it anew if it is of another.
  for (const folder of ['bin', 'dist'])
    if (existsSync(join(root, folder)))
      cpSync(join(root, folder), join(clone, folder), {recursive: true, verbatimSymlinks: true});
  run(clone, 'npm', ['run', 'prepare']);
  return clone;
}

function run(cwd: string, command: string, args: readonly string[]): void {
  execFileSync(command, args, {cwd, env: environment, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8'});
}
