import {basename} from 'node:path';
import {unreadFacts} from '../check/facts.ts';
import {isJournalled, kindOf} from '../formats/common/key.ts';
import type {Cancel} from '../home/disk/clock.ts';
import type {WatchEvent} from '../home/disk/disk.ts';
import {clearAbandoned, isAbandoned} from '../home/temporary.ts';
import {followHead, reportProblems, setFacts} from './accept-version.ts';
import {statSignature} from './file-state.ts';
import {HALF_SAVED_MS, STABLE_MS} from './half-saved.ts';
import type {Loop} from './parts.ts';
import {scan, statOf} from './scan.ts';

const PERIOD_MS = 2_000;
/** Longer than a tick of the file system's clock. */
const ECHO_MS = 12;
/** A scan may take this part of the time at most, so a large home is scanned less often. */
const SHARE = 20;

/** Loads what reads files, and recognizes those that have not changed. */
interface Recognizer {
  load(): Promise<unknown>;
  /** Whether the file is known already without a look. */
  knows(path: string): boolean;
}

/** Says where to look: after a hint of the watch at once, and all over the home every few seconds. */
export class Scanner {
  readonly #daemon: Loop;
  readonly #cover: (directory: string) => void;
  readonly #onRound: () => void;
  readonly #unreadable = new Set<string>();
  #timer: Cancel | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  /** `onRound`: whatever else is to be looked after every few seconds. */
  constructor(daemon: Loop, cover: (directory: string) => void, onRound: () => void) {
    this.#daemon = daemon;
    this.#cover = cover;
    this.#onRound = onRound;
  }

  /** The watch saw something. */
  hint(path: string | undefined, event: WatchEvent): void {
    if (path === undefined) this.#daemon.files.looks.renames.forgetAll();
    else if (kindOf(path)) this.#daemon.files.looks.renames.noteEvent(path, event);
    if (path?.endsWith('.gitignore')) this.#daemon.files.looks.ignored.forget();
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
    const {files} = this.#daemon;
    const {queue, looks} = files;
    const {savedAt} = looks;
    const saved = savedAt.get(path);
    if (saved !== undefined && this.#daemon.files.disk.clock.monotonic() - saved < ECHO_MS)
      queue.addAfter(path, ECHO_MS);
    else {
      savedAt.delete(path);
      if (!this.#isOwn(path)) queue.prefer(path);
      queue.add(path);
    }
  }

  /**
   * Whether the file is as the daemon knows it. Called from an event of the watch, where an exception would end the daemon: why a file
   * cannot be examined is reported by the look at it.
   */
  #isOwn(path: string): boolean {
    const {files} = this.#daemon;
    const {disk, known} = files;
    const stat = statOf(disk, path);
    return known.get(path)?.signature === (stat && statSignature(stat));
  }

  /** At the start: all that is not as it was when the last daemon knew it, or not as git has it. */
  async first(looker: Recognizer): Promise<void> {
    const {files} = this.#daemon;
    const {disk, known, journal, queue, looks} = files;
    const {pending} = looks;
    for (const folder of ['', '.agentdir']) clearAbandoned(disk, folder);
    if (known.size === 0) await looker.load();
    await this.#scan(false, path => looker.knows(path));
    for (const [path, {blob, settled}] of known) {
      const kind = this.#daemon.files.versions.blobAt(path) === blob ? undefined : kindOf(path);
      if (!settled || (kind && isJournalled(kind))) queue.add(path);
    }
    for (const path of journal.committed.keys()) if (!known.has(path)) queue.add(path);
    for (const path of this.#daemon.files.looks.lateWrites.keys()) queue.add(path);
    await queue.whenQuiet();
    // What was saved a moment ago is read as soon as it holds still.
    const until = this.#daemon.files.disk.clock.monotonic() + HALF_SAVED_MS;
    while (this.#daemon.files.disk.clock.monotonic() < until && [...pending.values()].some(({doubtful}) => !doubtful)) {
      await this.#daemon.files.disk.clock.pause(STABLE_MS);
      await queue.whenQuiet();
    }
  }

  /** All files are read: report what is wrong, and do what is still to be done. */
  async loaded(looker: Recognizer): Promise<void> {
    await looker.load();
    const {files} = this.#daemon;
    const {known, queue, kinds} = files;
    const {reconcilers} = kinds;
    const more = [...reconcilers].flatMap(reconciler => [...(reconciler.started?.() ?? [])]);
    this.#daemon.files.phase.loading = false;
    reportProblems(this.#daemon);
    for (const [path, {settled}] of known) if (!settled) queue.add(path);
    for (const path of more) queue.add(path);
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
    this.#timer = this.#daemon.files.disk.clock.after(
      ms,
      () => {
        this.#running = this.#round();
      },
      'held',
    );
  }

  async #round(): Promise<void> {
    if (this.#running) await this.#running;
    const began = this.#daemon.files.disk.clock.monotonic();
    try {
      this.#onRound();
      for (const reconciler of this.#daemon.files.phase.loading ? [] : this.#daemon.files.kinds.reconcilers)
        for (const path of reconciler.tick?.() ?? []) this.#daemon.files.queue.add(path);
      await this.#scan(true);
      await followHead(this.#daemon.files);
      this.#daemon.reports.troubles.set('scan', undefined);
    } catch (error) {
      this.#daemon.reports.troubles.set('scan', `the home cannot be looked at: ${(error as Error).message}`);
    }
    this.#running = undefined;
    this.#after(Math.max(PERIOD_MS, SHARE * (this.#daemon.files.disk.clock.monotonic() - began)));
  }

  async #scan(patient: boolean, isKnown = (_path: string) => false): Promise<void> {
    const {files} = this.#daemon;
    const {disk, known, queue} = files;
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
          setFacts(this.#daemon.files, problem.file, unreadFacts(problem.file, [problem]));
        },
        onDifference: path => {
          if (!isKnown(path)) queue.add(path);
        },
      },
      patient,
    );
    for (const folder of this.#unreadable) if (!unreadable.has(folder)) setFacts(this.#daemon.files, folder, undefined);
    this.#unreadable.clear();
    for (const folder of unreadable) this.#unreadable.add(folder);
    reportProblems(this.#daemon);
  }
}
