import {lstatSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {onTestFinished} from 'vitest';
import {type FileChange, Journal, type JournalEntry, type JournalOptions} from '../../src/home/journal.ts';
import {environment, git, temporary} from '../cli/run.ts';

// Journals run in the process of the test: git must not depend on who runs it there either.
for (const name of Object.keys(process.env)) if (name.startsWith('GIT_')) delete process.env[name];
Object.assign(process.env, environment);

/** An empty repository, or one with these files committed. */
export async function repository(files: Record<string, string> = {}, ...options: string[]): Promise<string> {
  const dir = join(temporary(), 'repo');
  mkdirSync(dir);
  await git(dir, 'init', '-q', '-b', 'main', ...options);
  if (Object.keys(files).length > 0) {
    for (const [path, text] of Object.entries(files)) write(dir, path, text);
    await git(dir, 'add', '-A');
    await git(dir, 'commit', '-q', '-m', 'start');
  }
  return dir;
}

export async function open(dir: string, options: JournalOptions = {}): Promise<Journal> {
  const journal = await Journal.open(dir, {minGapMs: 20, idleMs: 0, tellMs: 100, ...options});
  onTestFinished(() => journal.close());
  return journal;
}

export function write(dir: string, path: string, text: string, mode = 0o644): FileChange {
  mkdirSync(dirname(join(dir, path)), {recursive: true});
  writeFileSync(join(dir, path), text, {mode});
  return fileAt(dir, path);
}

/** What the daemon would hand over for a file as it is now. */
export function fileAt(dir: string, path: string): FileChange {
  const stat = lstatSync(join(dir, path), {bigint: true});
  const mode = stat.mode & 0o100n ? '100755' : '100644';
  return {path, content: {bytes: readFileSync(join(dir, path)), mode}, stat};
}

export const removal = (path: string): FileChange => ({path, content: undefined, stat: undefined});

export function entry(
  change: FileChange | readonly FileChange[],
  subject = 'change',
  author: JournalEntry['author'] = 'human',
) {
  const changes = Array.isArray(change) ? (change as FileChange[]) : [change as FileChange];
  return {changes, author, subject, trailers: []} satisfies JournalEntry;
}

/** Nothing is wrong with the repository, and its status is this. */
export async function soundness(dir: string): Promise<string> {
  const {stdout, stderr} = await fsck(dir);
  if (stdout + stderr !== '') throw new Error(`git fsck: ${stdout}${stderr}`);
  return git(dir, 'status', '--porcelain', '-uall');
}

async function fsck(dir: string): Promise<{stdout: string; stderr: string}> {
  const out = await git(dir, 'fsck', '--full', '--strict', '--no-dangling', '--no-progress');
  return {stdout: out, stderr: ''};
}

export const lines = (text: string): string[] => text.split('\n').filter(Boolean);
