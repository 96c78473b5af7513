import {spawn} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {setPriority} from 'node:os';
import {join} from 'node:path';
import {crashPoint} from './disk/crash.ts';
import {fixedOptions, gitEnvironment, ownProcesses} from './git/git.ts';
import type {Repository} from './git/git-repository.ts';

/** The number of packs that triggers a repack when idle. Counted as in `git gc --auto`. */
const PACKS = 20;
/** The number of packs that triggers a repack under load, because every git command gets slower. */
const MANY_PACKS = 50;
const LOOK_EVERY = 40;

type Need = 'loose' | 'packs' | undefined;

/** Which maintenance the object store needs. Reads only two folders: loose objects are estimated from one folder of 256. */
function maintenanceNeed({dirs}: Repository, maxLoose: number, maxPacks = PACKS): Need {
  const packs = names(join(dirs.common, 'objects/pack'));
  const kept = new Set(packs.filter(name => name.endsWith('.keep')).map(name => name.slice(0, -5)));
  if (packs.filter(name => name.endsWith('.pack') && !kept.has(name.slice(0, -5))).length > maxPacks) return 'packs';
  return looseEstimate(dirs.common) > maxLoose ? 'loose' : undefined;
}

function looseEstimate(common: string): number {
  return names(join(common, 'objects/17')).filter(name => /^[0-9a-f]{38,62}$/.test(name)).length * 256;
}

/**
 * Pack loose objects, at low priority. Never prunes: a person may want an object back, and the journal writes objects before it refers
 * to them. Many unreachable loose objects are packed, too.
 */
export async function maintain(repository: Repository, maxLoose: number, signal: AbortSignal): Promise<void> {
  if (maintenanceNeed(repository, maxLoose) === 'loose') await repack(repository, ['-d', '-l', '-q'], signal);
  if (!signal.aborted && maintenanceNeed(repository, maxLoose))
    await repack(repository, ['-a', '-d', '-l', '-q', '--keep-unreachable'], signal);
}

/** Schedules maintenance of one journal: when it is idle, and under load if there are many packs. One run at a time. */
export class Maintenance {
  readonly #repository: Repository;
  readonly #idleMs: number;
  readonly #maxLoose: number;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #count = 0;

  /** `idleMs` 0: no maintenance. */
  constructor(repository: Repository, {idleMs, maxLoose}: {idleMs: number; maxLoose: number}) {
    this.#repository = repository;
    this.#idleMs = idleMs;
    this.#maxLoose = maxLoose;
  }

  /** Call when nothing is left to publish. */
  plan(): void {
    this.postpone();
    if (this.#idleMs === 0) return;
    this.#timer = setTimeout(
      () => this.#start(signal => maintain(this.#repository, this.#maxLoose, signal)),
      this.#idleMs,
    ).unref();
  }

  postpone(): void {
    clearTimeout(this.#timer);
  }

  /** Call after each batch. Now and then, combines small packs if there are many. */
  published(): void {
    if (this.#idleMs === 0 || ++this.#count % LOOK_EVERY > 0) return;
    if (maintenanceNeed(this.#repository, Number.POSITIVE_INFINITY, MANY_PACKS) === 'packs')
      this.#start(signal => repack(this.#repository, ['-d', '-l', '-q', '--geometric=2'], signal));
  }

  async close(): Promise<void> {
    this.postpone();
    this.#stop.abort();
    await this.#running;
  }

  #start(work: (signal: AbortSignal) => Promise<void>): void {
    this.#running ??= work(this.#stop.signal).then(() => {
      this.#running = undefined;
    });
  }
}

function repack({top}: Repository, options: readonly string[], signal: AbortSignal): Promise<void> {
  crashPoint('spawn-git');
  return new Promise(resolve => {
    const child = spawn('git', [...fixedOptions, 'repack', ...options], {
      cwd: top,
      env: gitEnvironment(process.env),
      stdio: 'ignore',
      signal,
    });
    const {pid} = child;
    if (pid) {
      ownProcesses.add(pid);
      try {
        setPriority(pid, 15);
      } catch {
        // Already gone, or not allowed: it runs at normal priority.
      }
    }
    // A failed repack changes nothing; the next one tries again.
    child.on('error', () => resolve());
    child.on('close', () => {
      if (pid) ownProcesses.delete(pid);
      resolve();
    });
    child.unref();
  });
}

function names(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
