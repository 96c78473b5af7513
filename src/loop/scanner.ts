import {unreadFacts} from '../check/facts.ts';
import {isJournalled, kindOf} from '../formats/common/key.ts';
import type {Cancel} from '../home/disk/clock.ts';
import type {WatchEvent} from '../home/disk/disk.ts';
import {clearAbandoned, clearIfAbandoned} from '../home/temporary.ts';
import {followHead, reportProblems, setFacts} from './accept-version.ts';
import {statSignature} from './file-state.ts';
import {HALF_SAVED_MS, STABLE_MS} from './half-saved.ts';
import type {Loop} from './parts.ts';
import {isTorn} from './power-cut.ts';
import {scan, statOf} from './scan.ts';

const PERIOD_MS = 2_000;
/** How long the watch may repeat events of the daemon's own write. Longer than a tick of the file system's clock. */
const ECHO_MS = 12;
/** Scanning takes at most 1/SHARE of the time: a large home is scanned less often. */
const SHARE = 20;

/** Loads the parsers and recognizes unchanged files. */
interface Recognizer {
  load(): Promise<unknown>;
  /** Whether the file needs no look. */
  knows(path: string): boolean;
}

/** Decides which files to look at: the ones the watch reports at once, and every changed file of the home every few seconds. */
export class Scanner {
  readonly #daemon: Loop;
  readonly #cover: (directory: string) => void;
  readonly #onRound: () => void;
  readonly #unreadable = new Set<string>();
  #timer: Cancel | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  /** `cover` watches a directory. `onRound` is called before each scan. */
  constructor(daemon: Loop, cover: (directory: string) => void, onRound: () => void) {
    this.#daemon = daemon;
    this.#cover = cover;
    this.#onRound = onRound;
  }

  /** Handle an event of the watch. `path` undefined: events were lost. */
  hint(path: string | undefined, event: WatchEvent): void {
    const {queue, looks, disk} = this.#daemon.files;
    if (path === undefined) looks.renames.forgetAll();
    else if (kindOf(path)) looks.renames.noteEvent(path, event);
    if (path?.endsWith('.gitignore')) looks.ignored.forget();
    // Only listing the folder finds a name that is not UTF-8. A name without an ending is probably a folder.
    const isName = path !== undefined && !path.includes('\ufffd');
    if (!isName || !kindOf(path)) {
      if (!isName || !/\.\w+$|~$|\/\d+$|^\./.test(path)) this.#after(PERIOD_MS / 20);
      return;
    }
    // The watch reports each of the daemon's own writes several times: one look a moment later is enough.
    const saved = looks.savedAt.get(path);
    if (saved !== undefined && disk.clock.monotonic() - saved < ECHO_MS) {
      queue.addAfter(path, ECHO_MS);
      return;
    }
    looks.savedAt.delete(path);
    // Another writer's file goes to the front of the queue.
    if (!this.#isOwn(path)) queue.prefer(path);
    queue.add(path);
  }

  /**
   * Whether the file is as the daemon last read it. Must not throw: it runs in a watch event, where an exception would end the daemon.
   * The look reports why a file cannot be examined.
   */
  #isOwn(path: string): boolean {
    const {files} = this.#daemon;
    const {disk, known} = files;
    const stat = statOf(disk, path);
    return known.get(path)?.signature === (stat && statSignature(stat));
  }

  /** At the start: look at every file that differs from the checkpoint or from git. */
  async first(looker: Recognizer): Promise<void> {
    const {files} = this.#daemon;
    const {disk, known, journal, queue, looks} = files;
    const {pending} = looks;
    for (const folder of ['', '.agentdir']) clearAbandoned(disk, folder, (path, bytes) => isTorn(files, path, bytes));
    if (known.size === 0) await looker.load();
    await this.#scan(false, path => looker.knows(path));
    for (const [path, {blob, settled}] of known) {
      const kind = this.#daemon.files.versions.blobAt(path) === blob ? undefined : kindOf(path);
      if (!settled || (kind && isJournalled(kind))) queue.add(path);
    }
    for (const path of journal.committed.keys()) if (!known.has(path)) queue.add(path);
    for (const path of this.#daemon.files.looks.lateWrites.keys()) queue.add(path);
    await queue.whenQuiet();
    // Wait for files that were saved a moment ago to stop changing.
    const until = this.#daemon.files.disk.clock.monotonic() + HALF_SAVED_MS;
    while (this.#daemon.files.disk.clock.monotonic() < until && [...pending.values()].some(({doubtful}) => !doubtful)) {
      await this.#daemon.files.disk.clock.pause(STABLE_MS);
      await queue.whenQuiet();
    }
  }

  /** All files are read: report problems and queue files that are not settled. */
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

  /** Scan every few seconds from now on. */
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
        const round = (this.#running ?? Promise.resolve()).then(() => this.#round());
        this.#running = round;
        void round.then(() => {
          if (this.#running === round) this.#running = undefined;
        });
      },
      'held',
    );
  }

  async #round(): Promise<void> {
    if (this.#stopped) return;
    const began = this.#daemon.files.disk.clock.monotonic();
    try {
      this.#onRound();
      for (const reconciler of this.#daemon.files.phase.loading ? [] : this.#daemon.files.kinds.reconcilers)
        for (const path of reconciler.tick?.() ?? []) this.#daemon.files.queue.add(path);
      await this.#scan(true);
      await followHead(this.#daemon.files);
      this.#daemon.reports.troubles.set('scan', undefined);
    } catch (error) {
      this.#daemon.reports.troubles.set('scan', `cannot scan the home: ${(error as Error).message}`);
    }
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
        onLeftover: path => clearIfAbandoned(disk, path, (of, bytes) => isTorn(files, of, bytes)),
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
