import {type ChildProcessWithoutNullStreams, spawn} from 'node:child_process';
import {readdirSync, rmSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {crashPoint} from '../crash.ts';
import {existsProc} from '../process-life.ts';
import {fixedOptions, gitEnvironment, gitFailure, importerMark, ownProcesses} from './git.ts';
import {noObject, type ObjectFormat} from './git-blobs.ts';
import {isOpen} from './git-busy.ts';
import {messageOf, personText, stampOf} from './git-commit.ts';
import type {Person} from './git-config.ts';
import type {GitDirs} from './git-refs.ts';

/** An unused importer ends after this time. */
const IDLE_MS = 5_000;
/** Packs of a running fast-import cannot be repacked: it keeps a `.keep` file beside each. A new process lets go of them. */
const MOST_PACKS = 40;
/** fast-import needs a branch to commit on. It is deleted before it is ever written to the repository. */
const BRANCH = 'refs/agentdir/import';

/** What a path becomes: a blob that git has, or the bytes of one, or nothing (undefined). */
export type ImportedFile = {mode: string} & ({id: string} | {bytes: Buffer});

export interface NewCommit {
  author: Person;
  committer: Person;
  /** Milliseconds since 1970. */
  time: number;
  subject: string;
  trailers: readonly (readonly [string, string])[];
  /** In this order: a folder may take a file's place, and a file a folder's. */
  files: readonly (readonly [path: string, file: ImportedFile | undefined])[];
}

export interface ImportOptions {
  options: readonly string[];
  environment: () => NodeJS.ProcessEnv;
  /** How the characters of a path become bytes. */
  paths: 'utf8' | 'latin1';
  /** Up to so many objects become files of their own: that takes git another process each time, a pack needs maintenance. */
  loose: number;
}

const usual: ImportOptions = {
  options: fixedOptions,
  environment: () => gitEnvironment(process.env),
  paths: 'utf8',
  loose: 0,
};

interface Running {
  child: ChildProcessWithoutNullStreams;
  /** Who waits for the next lines that git prints, in order. */
  waiting: {resolve: (line: string) => void; reject: (error: Error) => void}[];
  /** Output after the last whole line. */
  rest: string;
  packs: number;
  closed: Promise<void>;
}

/**
 * Makes commits with one `git fast-import`, which runs while it is needed. Commits are visible to other processes after
 * `finish`; no branch points to them.
 *
 *   importer.begin(head);
 *   importer.commit({...});
 *   const [id] = await importer.finish();
 */
export class Importer {
  readonly #dir: string;
  readonly #dirs: GitDirs;
  readonly #forgetBranch: string;
  readonly #how: ImportOptions;
  #running: Running | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** The parent of the next commit, if that is not the commit before it. */
  #from: string | undefined;
  /** Of the commits since `begin`. */
  #ids: Promise<string>[] = [];

  /** `dir`: where git is run, of the repository that has these. */
  constructor(dir: string, dirs: GitDirs, format: ObjectFormat, how: ImportOptions = usual) {
    this.#dir = dir;
    this.#dirs = dirs;
    this.#forgetBranch = `reset ${BRANCH}\nfrom ${noObject(format)}\n\n`;
    this.#how = how;
  }

  /** The next commits follow `parent`; whatever was not finished before is dropped. */
  begin(parent: string | undefined): void {
    this.#start().child.stdin.write(this.#forgetBranch);
    this.#ids = [];
    this.#from = parent;
  }

  commit({author, committer, time, subject, trailers, files}: NewCommit): void {
    const running = this.#start();
    const mark = this.#ids.length + 1;
    const message = Buffer.from(`${messageOf(subject, trailers)}\n`);
    const when = stampOf(time);
    const {stdin} = running.child;
    const {paths} = this.#how;
    stdin.cork();
    stdin.write(
      `commit ${BRANCH}\nmark :${mark}\nauthor ${personText(author)} ${when}\ncommitter ${personText(committer)} ${when}\n`,
    );
    stdin.write(`data ${message.length}\n`);
    stdin.write(message);
    if (this.#from !== undefined) stdin.write(`from ${this.#from}\n`);
    this.#from = undefined;
    for (const [path, file] of files) {
      if (!file) stdin.write(`D ${quoted(path)}\n`, paths);
      else if ('id' in file) stdin.write(`M ${file.mode} ${file.id} ${quoted(path)}\n`, paths);
      else {
        stdin.write(`M ${file.mode} inline ${quoted(path)}\ndata ${file.bytes.length}\n`, paths);
        stdin.write(file.bytes);
        stdin.write('\n');
      }
    }
    stdin.write(`\nget-mark :${mark}\n`);
    stdin.uncork();
    this.#ids.push(this.#line(running));
  }

  /** The ids of the commits since `begin`, once their objects are on disk. Rejects with what git says. */
  async finish(): Promise<string[]> {
    const running = this.#start();
    running.child.stdin.write(`${this.#forgetBranch}checkpoint\nprogress finished\n`);
    const finished = this.#line(running);
    const ids = this.#ids;
    this.#ids = [];
    const [, ...found] = await Promise.all([finished, ...ids]);
    crashPoint('journal-pack');
    running.packs++;
    this.release();
    return found;
  }

  /** Nothing more is to be committed for now: the process does not keep ours alive, and ends after a while. */
  release(): void {
    const running = this.#running;
    if (!running) return;
    if (running.packs >= MOST_PACKS) {
      this.end();
      return;
    }
    hold(running.child, false);
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.end(), IDLE_MS).unref();
  }

  /** Let the process end: it would not see that objects were pruned, and keeps its packs from being repacked. */
  end(): void {
    clearTimeout(this.#idle);
    this.#running?.child.stdin.end();
    this.#running = undefined;
  }

  /** The same, and wait until the process has ended. */
  async close(): Promise<void> {
    const running = this.#running;
    this.end();
    if (running) hold(running.child, true);
    await running?.closed;
  }

  #start(): Running {
    clearTimeout(this.#idle);
    if (this.#running) {
      hold(this.#running.child, true);
      return this.#running;
    }
    crashPoint('spawn-git');
    const {options, environment, loose} = this.#how;
    const settings = [
      importerMark,
      `fastimport.unpackLimit=${loose + 1}`,
      'core.fsync=none',
      'core.compression=1',
      'pack.compression=1',
    ];
    const command = ['fast-import', '--quiet', '--force', '--date-format=raw'];
    const child = spawn('git', [...options, ...settings.flatMap(setting => ['-c', setting]), ...command], {
      cwd: this.#dir,
      env: environment(),
    });
    const closed = new Promise<void>(resolve => {
      child.once('close', () => resolve());
    });
    const running: Running = {child, waiting: [], rest: '', packs: 0, closed};
    this.#running = running;
    const began = Date.now();
    const {pid} = child;
    if (pid) ownProcesses.add(pid);
    let said = '';
    child.stderr.on('data', data => {
      said += String(data);
    });
    child.stdin.on('error', () => {});
    child.stdout.setEncoding('latin1');
    child.stdout.on('data', (data: string) => {
      const lines = (running.rest + data).split('\n');
      running.rest = lines.pop() ?? '';
      for (const line of lines) running.waiting.shift()?.resolve(line);
    });
    const gone = (why: string) => {
      if (pid) ownProcesses.delete(pid);
      if (this.#running === running) this.#running = undefined;
      if (running.waiting.length > 0 && pid) this.#clear(pid, began);
      for (const {reject} of running.waiting.splice(0)) reject(gitFailure('fast-import', said || why));
    };
    child.on('error', error => gone(error.message));
    child.on('close', code => gone(`ended with ${code}`));
    return running;
  }

  /**
   * A fast-import that failed leaves a report, and its pack as far as it was written: on a full disk, one for each try. Called when the
   * process has ended, where an exception would end the daemon: what may not be removed (a repository without permission) stays for
   * `git gc`.
   */
  #clear(pid: number, began: number): void {
    const folder = join(this.#dirs.common, 'objects/pack');
    try {
      rmSync(join(this.#dirs.own, `fast_import_crash_${pid}`), {force: true});
      for (const name of existsProc() ? readdirSync(folder) : []) {
        const path = join(folder, name);
        const isNew = (statSync(path, {throwIfNoEntry: false})?.mtimeMs ?? 0) >= began - 1_000;
        if (/^tmp_(?:pack|idx)_/.test(name) && isNew && !isOpen(path)) rmSync(path, {force: true});
      }
    } catch {
      // The failure of fast-import itself is reported, and says why.
    }
  }

  #line(running: Running): Promise<string> {
    const line = new Promise<string>((resolve, reject) => running.waiting.push({resolve, reject}));
    // A batch that is dropped waits for no answer.
    line.catch(() => {});
    return line;
  }
}

/** Whether a child process keeps ours alive. */
export function hold(child: ChildProcessWithoutNullStreams, on: boolean): void {
  const verb = on ? 'ref' : 'unref';
  child[verb]();
  for (const stream of [child.stdin, child.stdout, child.stderr])
    (stream as unknown as {ref?: () => void; unref?: () => void})[verb]?.();
}

/** A path as fast-import reads it. */
function quoted(path: string): string {
  if (!path.startsWith('"') && !path.includes('\n')) return path;
  return `"${path.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}
