import {execFile} from 'node:child_process';
import {cpSync, type Dirent, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import {afterAll, beforeAll, expect} from 'vitest';
import {hasErrors} from '../../src/formats/common/diagnostic.ts';
import {kindOf} from '../../src/formats/common/key.ts';
import {parseSession} from '../../src/formats/session/session.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {agentdir, environment, git, put, temporary} from '../cli/run.ts';

/** One home for all tests of a file: made once, copied for each. */
export function homes(files: Record<string, string> = {}): () => string {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-test-'));
  const first = join(dir, 'home');
  beforeAll(async () => {
    expect((await agentdir(dir, ['init', first])).stderr).toBe('');
    if (Object.keys(files).length === 0) return;
    put(first, files);
    await git(first, 'add', '--', ...Object.keys(files));
    await git(first, 'commit', '--quiet', '--message=before');
  });
  afterAll(() => rmSync(dir, {recursive: true, force: true, maxRetries: 20, retryDelay: 50}));
  return () => {
    const home = join(temporary(), 'home');
    cpSync(first, home, {recursive: true});
    return home;
  };
}

/** Every file of a home but git's and the daemon's own, by path. */
export function filesIn(home: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of entriesIn(home)) {
    const path = join(entry.parentPath, entry.name).slice(home.length + 1);
    if (!entry.isFile() || /^\.git\/|^\.agentdir\//.test(path)) continue;
    try {
      files[path] = readFileSync(join(home, path), 'utf8');
    } catch {
      // Gone since: a daemon is at work.
    }
  }
  return files;
}

/** A folder that goes while they are listed ends the listing: then once more. */
function entriesIn(home: string): Dirent[] {
  for (;;)
    try {
      return readdirSync(home, {withFileTypes: true, recursive: true});
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(home)) throw error;
    }
}

/** All of a home, without what differs from run to run and may: its own path, times, ids but for their order. */
export function stateOf(home: string): Record<string, string> {
  return normal(filesIn(home), home);
}

function normal(files: Record<string, string>, home: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [path, text] of Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const ids = new Map<string, string>();
    // Newest first, so the order depends on times.
    const ordered = path === 'NEEDS_YOU.md' ? text.split('\n').sort().join('\n') : text;
    result[path] = ordered
      .replaceAll(home, 'HOME')
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?UTC|Z)?/g, 'TIME')
      .replace(/task-[0-9a-z]{12}/g, id => {
        if (!ids.has(id)) ids.set(id, `task-${ids.size + 1}`);
        return ids.get(id) ?? id;
      });
  }
  return result;
}

/** What must hold of a home after any crash, once a daemon has served it again and stopped. `wrong`: saved so once. */
export async function expectSound(home: string, wrong: readonly string[] = []): Promise<void> {
  expect(await git(home, 'status', '--porcelain', '--ignored=no')).toBe('');
  expect(await git(home, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
  const files = filesIn(home);
  for (const [path, text] of Object.entries(files)) expectReadable(path, text);
  // Nothing half written is left beside a file, in the home or in git's own folder; and no lock.
  expect(Object.keys(files).filter(path => /\.tmp$|\.agentdir-/.test(path))).toEqual([]);
  expect(
    readdirSync(join(home, '.git'), {recursive: true}).filter(name => /\.lock$|agentdir-/.test(`${name}`)),
  ).toEqual([]);
  expect(readdirSync(join(home, '.agentdir'), {recursive: true}).filter(name => /\.tmp$/.test(`${name}`))).toEqual([]);
  expect(existsSync(join(home, '.agentdir/locks')) ? readdirSync(join(home, '.agentdir/locks')) : []).toEqual([]);
  for await (const [path, text] of eachVersion(home)) {
    if (!wrong.includes(path)) expectReadable(path, text);
    // Somebody else may be at work in this process.
    await turn();
  }
  // Whoever looks again finds nothing to do.
  const before = await git(home, 'rev-parse', 'HEAD');
  const again = await agentdir(home, ['start', '--once']);
  expect(again.stderr).toBe('');
  expect(await git(home, 'rev-parse', 'HEAD')).toBe(before);
  expect(filesIn(home)).toEqual(files);
}

/** In order, and nothing in it twice. */
function expectReadable(path: string, text: string): void {
  const kind = kindOf(path);
  if (kind === 'session') {
    const {problems} = parseSession(text);
    if (hasErrors(problems)) throw new Error(`${path}: ${JSON.stringify(problems)}\n${text}`);
  }
  if (kind !== 'tasks') return;
  const {problems, tasks} = parseTasks(text);
  if (hasErrors(problems)) throw new Error(`${path}: ${JSON.stringify(problems)}\n${text}`);
  for (const {fields} of tasks) {
    const keys = fields.map(({key}) => key);
    if (new Set(keys).size < keys.length) throw new Error(`${path}: a field twice\n${text}`);
  }
}

/** Every version of every session and task file that was ever committed. */
export async function versions(home: string): Promise<[string, string][]> {
  const all: [string, string][] = [];
  for await (const version of eachVersion(home)) all.push(version);
  return all;
}

/** So many are read at a time: all those of a large home do not fit into memory. */
const AT_A_TIME = 500;

async function* eachVersion(home: string): AsyncGenerator<[path: string, text: string]> {
  const list = (
    await git(home, 'rev-list', '--objects', '--filter=object:type=blob', '--filter-provided-objects', 'HEAD')
  )
    .trim()
    .split('\n')
    .map(line => [line.slice(0, 40), line.slice(41)] as const)
    .filter(([, path]) => /^(?:sessions|tasks)\//.test(path));
  for (let from = 0; from < list.length; from += AT_A_TIME) {
    const part = list.slice(from, from + AT_A_TIME);
    const out = await contents(
      home,
      part.map(([id]) => id),
    );
    let at = 0;
    for (const [, path] of part) {
      const end = out.indexOf(10, at);
      const size = Number(out.toString('latin1', at, end).split(' ')[2]);
      yield [path, out.toString('utf8', end + 1, end + 1 + size)];
      at = end + size + 2;
    }
  }
}

/** As `git cat-file --batch` prints them. */
function contents(home: string, ids: readonly string[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      ['cat-file', '--batch'],
      {cwd: home, env: environment, encoding: 'buffer', maxBuffer: 1 << 28},
      (error, stdout) => (error ? reject(error) : resolve(stdout)),
    );
    child.stdin?.end(ids.map(id => `${id}\n`).join(''));
  });
}
