import {basename} from 'node:path';
import {unreadFacts} from '../check/facts.ts';
import {isJournalled, kindOf, stemOf} from '../files/key.ts';
import type {Cancel} from '../store/clock.ts';
import type {WatchEvent} from '../store/disk.ts';
import {clearAbandoned, isAbandoned} from '../store/temporary.ts';
import {DOUBTFUL_MS, STABLE_MS} from './doubt.ts';
import {unseenInboxes} from './inbox/inbox-missed.ts';
import {signature} from './known.ts';
import type {Looker} from './looker.ts';
import {scan} from './scan.ts';
import type {Serving} from './serving.ts';
import {followHead, setFacts, tell} from './state.ts';
import {loadSpend} from './turns/budget.ts';

const PERIOD_MS = 2_000;
/** Longer than a tick of the file system's clock. */
const ECHO_MS = 12;
/** A scan may take this part of the time at most, so a large home is scanned less often. */
const SHARE = 20;

/** Says where to look: after a hint of the watch at once, and all over the home every few seconds. */
export class Scanner {
  readonly #serving: Serving;
  readonly #cover: (directory: string) => void;
  readonly #onRound: () => void;
  readonly #unreadable = new Set<string>();
  #timer: Cancel | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  /** `onRound`: whatever else is to be looked after every few seconds. */
  constructor(serving: Serving, cover: (directory: string) => void, onRound: () => void) {
    this.#serving = serving;
    this.#cover = cover;
    this.#onRound = onRound;
  }

  /** The watch saw something. */
  hint(path: string | undefined, event: WatchEvent): void {
    if (path === undefined) this.#serving.renames.forgetAll();
    else if (kindOf(path)) this.#serving.renames.noted(path, event);
    if (path?.endsWith('.gitignore')) this.#serving.ignored.forget();
    // A name that is not UTF-8 is only seen by listing its folder.
    if (path?.includes('\ufffd')) this.#after(PERIOD_MS / 20);
    else if (path !== undefined && kindOf(path)) this.#look(path);
    // A folder, or who knows what.
    else if (path === undefined || !/\.\w+$|~$|\/\d+$|^\./.test(path)) this.#after(PERIOD_MS / 20);
  }

  /**
   * Of what the daemon wrote itself the watch tells several times: one look a moment later is enough. What somebody else wrote goes
   * before all that is to be done.
   */
  #look(path: string): void {
    const {queue, savedAt} = this.#serving;
    const saved = savedAt.get(path);
    if (saved !== undefined && this.#serving.clock.monotonic() - saved < ECHO_MS) queue.addAfter(path, ECHO_MS);
    else {
      savedAt.delete(path);
      if (!this.#isOwn(path)) queue.prefer(path);
      queue.add(path);
    }
  }

  /** Whether the file is as the daemon knows it. */
  #isOwn(path: string): boolean {
    const {disk, known} = this.#serving;
    const stat = disk.stat(path);
    return known.get(path)?.signature === (stat && signature(stat));
  }

  /** At the start: all that is not as it was when the last daemon knew it, or not as git has it. */
  async first(looker: Looker): Promise<void> {
    const {disk, known, journal, queue, pending} = this.#serving;
    for (const folder of ['', '.agentdir']) clearAbandoned(disk, folder);
    if (known.size === 0) await looker.load(this.#serving);
    await this.#scan(false, path => looker.knows(this.#serving, path));
    for (const [path, {blob, settled}] of known) {
      const kind = this.#serving.versions.blobAt(path) === blob ? undefined : kindOf(path);
      if (!settled || (kind && isJournalled(kind))) queue.add(path);
    }
    for (const path of journal.committed.keys()) if (!known.has(path)) queue.add(path);
    for (const path of this.#serving.late.keys()) queue.add(path);
    await queue.whenQuiet();
    // What was saved a moment ago is read as soon as it holds still.
    const until = this.#serving.clock.monotonic() + DOUBTFUL_MS;
    while (this.#serving.clock.monotonic() < until && [...pending.values()].some(({doubtful}) => !doubtful)) {
      await this.#serving.clock.pause(STABLE_MS);
      await queue.whenQuiet();
    }
  }

  /** All files are read: tell what is wrong, and do what is left to do. */
  loaded(): void {
    const {known, queue} = this.#serving;
    loadSpend(this.#serving);
    this.#serving.loading = false;
    tell(this.#serving);
    for (const [path, {settled}] of known) {
      if (!settled) queue.add(path);
      // An inbox that is gone may have been renamed, and what it is now have more to read.
      if (path.startsWith('state/inbox/')) queue.add(`inbox/${stemOf(path)}.jsonl`);
    }
    for (const path of unseenInboxes(this.#serving)) queue.add(path);
  }

  /** From now on, every few seconds. */
  start(): void {
    this.#after(PERIOD_MS);
  }

  stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.();
    return this.#running ?? Promise.resolve();
  }

  #after(ms: number): void {
    if (this.#stopped) return;
    this.#timer?.();
    this.#timer = this.#serving.clock.after(
      ms,
      () => {
        this.#running = this.#round();
      },
      'held',
    );
  }

  async #round(): Promise<void> {
    if (this.#running) await this.#running;
    const began = this.#serving.clock.monotonic();
    try {
      this.#onRound();
      await this.#scan(true);
      await followHead(this.#serving);
      this.#serving.troubles.set('scan', undefined);
    } catch (error) {
      this.#serving.troubles.set('scan', `the home cannot be looked at: ${(error as Error).message}`);
    }
    this.#running = undefined;
    this.#after(Math.max(PERIOD_MS, SHARE * (this.#serving.clock.monotonic() - began)));
  }

  async #scan(patient: boolean, isKnown = (_path: string) => false): Promise<void> {
    const {disk, known, queue} = this.#serving;
    const unreadable = new Set<string>();
    await scan(
      {
        disk,
        signatureOf: path => known.get(path)?.signature,
        paths: () => known.keys(),
        onDirectory: this.#cover,
        onLeftover: path => {
          if (isAbandoned(disk, basename(path))) disk.remove(path);
        },
        onUnreadable: problem => {
          unreadable.add(problem.file);
          setFacts(this.#serving, problem.file, unreadFacts(problem.file, [problem]));
        },
        onDifference: path => {
          if (!isKnown(path)) queue.add(path);
        },
      },
      patient,
    );
    for (const folder of this.#unreadable) if (!unreadable.has(folder)) setFacts(this.#serving, folder, undefined);
    this.#unreadable.clear();
    for (const folder of unreadable) this.#unreadable.add(folder);
    tell(this.#serving);
  }
}
