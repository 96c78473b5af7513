import {
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {join} from 'node:path';

export type Random = () => number;

/** The same numbers for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** What was written where; it must be there in the end. */
export interface Mark {
  path: string;
  mark: string;
  /** A task that was ticked too. */
  done: boolean;
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

type Save = (path: string, text: string, wait: () => Promise<unknown>) => Promise<void> | void;
const saves: readonly Save[] = [
  (path, text) => writeFileSync(path, text),
  (path, text) => {
    writeFileSync(`${path}~`, text);
    renameSync(`${path}~`, path);
  },
  async (path, text, wait) => {
    const fd = openSync(path, 'r+');
    ftruncateSync(fd);
    await wait();
    writeSync(fd, text);
    closeSync(fd);
  },
  async (path, text, wait) => {
    if (existsSync(path)) renameSync(path, `${path}~`);
    await wait();
    writeFileSync(path, text);
    rmSync(`${path}~`, {force: true});
  },
];

/**
 * Somebody who edits the files of a home without a break: reads one, thinks, and saves it with something added, in one
 * of the ways in which editors save. Knows nothing of daemons.
 */
export class Person {
  readonly marks: Mark[] = [];
  readonly removed: string[] = [];
  /** The longest time a file was half saved: from a second on, a daemon takes it for what the person wants. */
  slowest = 0;
  readonly #home: string;
  readonly #random: Random;
  /** What an editor that is still open shows: as it was saved last, without what the daemon wrote since. */
  readonly #buffers = new Map<string, string>();
  #count = 0;

  constructor(home: string, random: Random) {
    this.#home = home;
    this.#random = random;
  }

  async work(isOver: () => boolean, pace: () => Promise<void>): Promise<void> {
    while (!isOver()) {
      await this.#edit();
      await pace();
    }
  }

  async #edit(): Promise<void> {
    const which = this.#random();
    const number = Math.floor(this.#random() * 3);
    if (which < 0.4) await this.#talk(`sessions/s${number}.session.yaml`);
    else if (which < 0.6) await this.#add(`tasks/t${number}.task.md`, mark => `- [ ] @away/planner "${mark}"\n`);
    else if (which < 0.75) await this.#tick(`tasks/t${number}.task.md`);
    else if (which < 0.95) await this.#add(`memory/m${number}.md`, mark => `${mark}\n`);
    else this.#remove();
  }

  #talk(path: string): Promise<void> {
    const head = 'agent_id: planner-001 # mine\nmessages:\n';
    return this.#add(path, mark => `  - role: user\n    content: ${mark}\n`, head);
  }

  async #add(path: string, words: (mark: string) => string, head = ''): Promise<void> {
    const mark = `mark-${this.#count++}-`;
    await this.#change(path, text => (text ?? head) + words(mark));
    this.marks.push({path, mark, done: false});
  }

  async #tick(path: string): Promise<void> {
    const open = this.marks.filter(mark => mark.path === path && !mark.done);
    const mark = open[Math.floor(this.#random() * open.length)];
    if (!mark) return;
    await this.#change(
      path,
      text => text?.replace(`- [ ] @away/planner "${mark.mark}"`, `- [x] @away/planner "${mark.mark}"`) ?? '',
    );
    mark.done = true;
  }

  /** A file that was just made, perhaps committed already, perhaps not. */
  #remove(): void {
    const last = this.removed.at(-1);
    if (last !== undefined && existsSync(join(this.#home, last))) {
      rmSync(join(this.#home, last));
      return;
    }
    const path = `memory/gone-${this.#count++}.md`;
    writeFileSync(join(this.#home, path), 'not for long\n');
    this.removed.push(path);
  }

  async #change(path: string, how: (text: string | undefined) => string): Promise<void> {
    const full = join(this.#home, path);
    const buffer = this.#random() < 0.3 ? this.#buffers.get(path) : undefined;
    const before = buffer ?? (existsSync(full) ? readFileSync(full, 'utf8') : undefined);
    // The daemon may write the file meanwhile: then this is a save from a stale buffer.
    if (this.#random() < 0.5) await pause(this.#random() * 50);
    const save = before === undefined ? saves[0] : saves[Math.floor(this.#random() * saves.length)];
    const began = performance.now();
    const text = how(before);
    this.#buffers.set(path, text);
    await save?.(full, text, () => pause(this.#random() * 10));
    this.slowest = Math.max(this.slowest, performance.now() - began);
  }

  /** The last of what was to be removed is removed for good. */
  finish(): void {
    for (const path of this.removed) rmSync(join(this.#home, path), {force: true});
  }
}
