import type {With} from '../agents/state/parts.ts';
import {needsYou} from '../check/needs-you.ts';
import {writeDerived, writeOver} from '../home/cache.ts';
import {type Cancel, timestamp} from '../home/disk/clock.ts';
import {crashPoint} from '../home/disk/crash.ts';
import type {Disk} from '../home/disk/disk.ts';
import {type DaemonStatus, STATUS_FILE} from '../home/status.ts';
import {troubleText} from '../loop/troubles.ts';

/** Many changes at once; and where there is much to tell, what is under way goes first. */
const COALESCE_MS = 50;
const LARGEST_SHARE = 1 / 20;
const LONGEST_MS = 500;
const RETRY_MS = 2_000;
/** Files that vanish may be the first of all: so long a home is left alone that somebody may be deleting. */
const REMOVED_MS = 1_500;
/** How many sessions are at work changes with every turn: that alone is written no more often than this. */
const COUNTS_MS = 500;

/** What they are made from. */
type StatusSource = With<'files' | 'reports' | 'approvals' | 'status'>;

/** Keeps NEEDS_YOU.md and the daemon's status file in step with what the daemon knows. */
export class StatusFiles {
  readonly #daemon: StatusSource;
  readonly #isGone: () => boolean;
  readonly #since: string;
  #timer: Cancel | undefined;
  /** How long it took the last time. */
  #took = 0;
  #written = '';
  #writtenStatus = '';
  #statusAt = 0;
  #later: Cancel | undefined;
  #stopped: DaemonStatus['stopped'];
  #incompleteSince: number | undefined;

  /** `isGone`: the home was moved or deleted, and nothing may be written to its old path. */
  constructor(daemon: StatusSource, isGone: () => boolean) {
    this.#daemon = daemon;
    this.#isGone = isGone;
    this.#since = timestamp(daemon.files.disk.clock);
  }

  /** Something changed: write soon, many changes at once. */
  changed(): void {
    const wait = Math.min(LONGEST_MS, Math.max(COALESCE_MS, this.#took / LARGEST_SHARE));
    this.#timer ??= this.#daemon.files.disk.clock.after(wait, () => this.write(true), 'held');
  }

  /** The daemon stops by itself: what is written from here on says why. */
  stopped(why: string): void {
    this.#stopped = {why, at: timestamp(this.#daemon.files.disk.clock)};
  }

  /** `patient`: what only says how many sessions are at work may be written later. */
  write(patient = false): void {
    this.#cancel();
    if (this.#isGone()) return;
    const {files} = this.#daemon;
    const {disk} = files;
    if (this.#mayBeRemoved()) {
      this.#timer = disk.clock.after(REMOVED_MS, () => this.write());
      return;
    }
    const begun = disk.clock.monotonic();
    const needs = this.#try('NEEDS_YOU.md', () => {
      const text = this.#text();
      if (text === this.#written) return;
      crashPoint('needs-you-write');
      writeDerived(disk, 'NEEDS_YOU.md', text);
      this.#written = text;
    });
    // Where the one cannot be written the other may be, and say so.
    const status = this.#try('.agentdir/status.json', () => {
      const text = JSON.stringify(this.#daemon.reports.redact.value(this.#status()), null, 2);
      if (text === this.#writtenStatus || (patient && this.#mayWait(text))) return;
      writeOver(disk, STATUS_FILE, text);
      this.#writtenStatus = text;
      this.#statusAt = this.#daemon.files.disk.clock.monotonic();
    });
    this.#took = this.#daemon.files.disk.clock.monotonic() - begun;
    if (needs && status) return;
    this.#cancel();
    this.#timer = this.#daemon.files.disk.clock.after(RETRY_MS, () => this.write());
  }

  #cancel(): void {
    this.#timer?.();
    this.#timer = undefined;
  }

  /** Whether this status says nothing but other numbers of sessions than the last one, which was written just now. */
  #mayWait(status: string): boolean {
    const withoutCounts = (text: string) => text.replace(/"sessions": \{[^}]*\}/, '');
    const left = this.#statusAt + COUNTS_MS - this.#daemon.files.disk.clock.monotonic();
    if (left <= 0 || withoutCounts(status) !== withoutCounts(this.#writtenStatus)) return false;
    this.#later ??= this.#daemon.files.disk.clock.after(left, () => {
      this.#later = undefined;
      this.changed();
    });
    return true;
  }

  /** Some file that every served home has was there and is missing, and has not been for long. */
  #mayBeRemoved(): boolean {
    const {disk} = this.#daemon.files;
    const {clock} = disk;
    const isMissing = (path: string) => isGone(disk, path);
    const isIncomplete =
      isMissing('agentdir.yaml') ||
      (this.#written !== '' && isMissing('NEEDS_YOU.md')) ||
      (this.#writtenStatus !== '' && isMissing(STATUS_FILE));
    this.#incompleteSince = isIncomplete ? (this.#incompleteSince ?? clock.monotonic()) : undefined;
    return this.#incompleteSince !== undefined && clock.monotonic() - this.#incompleteSince < REMOVED_MS;
  }

  #try(path: string, write: () => void): boolean {
    const {reports} = this.#daemon;
    const {troubles} = reports;
    try {
      write();
      troubles.set(path, undefined);
      return true;
    } catch (error) {
      troubles.set(path, troubleText(path, error as Error));
      return false;
    }
  }

  /** Somebody removed or changed what is derived: write it again. */
  verify(): void {
    const {files} = this.#daemon;
    const {disk} = files;
    const is = (path: string, text: string) => {
      try {
        return disk.read(path).toString() === text;
      } catch {
        return false;
      }
    };
    if (this.#mayBeRemoved()) return;
    if (!is('NEEDS_YOU.md', this.#written)) this.#written = '';
    if (!is(STATUS_FILE, this.#writtenStatus)) this.#writtenStatus = '';
    if (this.#written === '' || this.#writtenStatus === '') this.write();
  }

  close(): void {
    this.#timer?.();
    this.#later?.();
  }

  #text(): string {
    const {files, reports} = this.#daemon;
    const {home, disk, index, known} = files;
    const {troubles, redact} = reports;
    const sinceOf = (path: string) => {
      const time = modified(disk, path, known.get(path)?.signature);
      return time === undefined ? '' : new Date(time).toISOString();
    };
    const pageOf = (id: string) => index.definitionsOf(`page/${id}`)[0]?.path;
    return redact.text(
      needsYou({problems: index.all(), needs: index.needs(), troubles: troubles.list(), sinceOf, home, pageOf}),
    );
  }

  #status(): DaemonStatus {
    const {files, reports, status, approvals} = this.#daemon;
    const {home, disk, index} = files;
    const {troubles} = reports;
    const {sessions, version, watching, model, confinement} = status;
    const problems = index.all();
    const needs = index.needs();
    const errors = problems.filter(({severity}) => severity === 'error').length;
    const {agents, tasks} = index.counts();
    return {
      pid: disk.processes.self().pid,
      since: this.#since,
      version,
      home,
      agents,
      tasks,
      sessions: sessions.byStatus(),
      errors,
      warnings: problems.length - errors,
      needs: needs.length,
      approvals: needs.filter(({what}) => what === 'approval').length,
      troubles: troubles.list(),
      model,
      sandbox: confinement,
      unconfined: approvals.unconfined,
      watching: watching(),
      ...(this.#stopped && {stopped: this.#stopped}),
    };
  }
}

/** False where nobody may look. */
function isGone(disk: Disk, path: string): boolean {
  try {
    return disk.lstat(path) === undefined;
  } catch {
    return false;
  }
}

/** Milliseconds: from a signature, else from what is there, be it a file or not. A name that is not UTF-8 finds nothing. */
function modified(disk: Disk, path: string, signature: string | undefined): number | undefined {
  if (signature !== undefined) return Number(BigInt(signature.split('.')[2] ?? 0) / 1_000_000n);
  const found = disk.lstat(path);
  return found && Number(found.mtimeMs);
}
