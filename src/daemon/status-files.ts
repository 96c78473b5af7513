import type {With} from '../agents/state/parts.ts';
import {needsYou} from '../check/needs-you.ts';
import {waitingFor} from '../check/waiting.ts';
import {writeDerived, writeOver} from '../home/cache.ts';
import {type Cancel, timestamp} from '../home/disk/clock.ts';
import {crashPoint} from '../home/disk/crash.ts';
import type {Disk} from '../home/disk/disk.ts';
import {type DaemonStatus, STATUS_FILE} from '../home/status.ts';
import {troubleText} from '../loop/troubles.ts';

/** Combine changes within this time. Writing takes at most `LARGEST_SHARE` of the time, so a large home waits longer. */
const COALESCE_MS = 50;
const LARGEST_SHARE = 1 / 20;
const LONGEST_MS = 500;
const RETRY_MS = 2_000;
/** If a file vanishes, somebody may be deleting the home: write nothing for this long. */
const REMOVED_MS = 1_500;
/** The minimum time between writes that only change session counts, which every turn does. */
const COUNTS_MS = 500;

type StatusSource = With<'files' | 'reports' | 'approvals' | 'inboxes' | 'status'>;

/** Writes NEEDS_YOU.md and the daemon's status file when their content has changed. */
export class StatusFiles {
  readonly #daemon: StatusSource;
  readonly #isGone: () => boolean;
  readonly #since: string;
  #timer: Cancel | undefined;
  /** How long the last write took. */
  #took = 0;
  #written = '';
  #writtenStatus = '';
  #statusAt = 0;
  #later: Cancel | undefined;
  #stopped: DaemonStatus['stopped'];
  #incompleteSince: number | undefined;

  /** `isGone`: whether the home was moved or deleted, so that nothing may be written to its old path. */
  constructor(daemon: StatusSource, isGone: () => boolean) {
    this.#daemon = daemon;
    this.#isGone = isGone;
    this.#since = timestamp(daemon.files.disk.clock);
  }

  /** Write soon. */
  changed(): void {
    const wait = Math.min(LONGEST_MS, Math.max(COALESCE_MS, this.#took / LARGEST_SHARE));
    this.#timer ??= this.#daemon.files.disk.clock.after(wait, () => this.write(true), 'held');
  }

  /** The daemon stops by itself. The status file says why from now on. */
  stopped(why: string): void {
    this.#stopped = {why, at: timestamp(this.#daemon.files.disk.clock)};
  }

  /** `patient`: a status in which only session counts differ may be written later. */
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
    // If NEEDS_YOU.md cannot be written, the status file can still report it.
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

  /** Whether only session counts differ from the last status, and that was written less than `COUNTS_MS` ago. */
  #mayWait(status: string): boolean {
    const withoutCounts = (text: string) => text.replace(/"sessions": \{[^}]*\}/, '');
    const waitMs = this.#statusAt + COUNTS_MS - this.#daemon.files.disk.clock.monotonic();
    if (waitMs <= 0 || withoutCounts(status) !== withoutCounts(this.#writtenStatus)) return false;
    this.#later ??= this.#daemon.files.disk.clock.after(waitMs, () => {
      this.#later = undefined;
      this.changed();
    });
    return true;
  }

  /** Whether a file that every served home has vanished less than `REMOVED_MS` ago. */
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

  /** Write the files again if somebody removed or changed them. */
  verify(): void {
    const {files} = this.#daemon;
    const {disk} = files;
    const hasText = (path: string, text: string) => {
      try {
        return disk.read(path).toString() === text;
      } catch {
        return false;
      }
    };
    if (this.#mayBeRemoved()) return;
    if (!hasText('NEEDS_YOU.md', this.#written)) this.#written = '';
    if (!hasText(STATUS_FILE, this.#writtenStatus)) this.#writtenStatus = '';
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
    const {files, reports, status, approvals, inboxes} = this.#daemon;
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
      waiting: waitingFor(needs, problems),
      delivered: inboxes.delivered(),
      troubles: troubles.list(),
      model,
      sandbox: confinement,
      unconfined: approvals.unconfined,
      watching: watching(),
      ...(this.#stopped && {stopped: this.#stopped}),
    };
  }
}

/** False if the path cannot be examined. */
function isGone(disk: Disk, path: string): boolean {
  try {
    return disk.lstat(path) === undefined;
  } catch {
    return false;
  }
}

/** The mtime in milliseconds, from the signature or else from disk. Undefined for a name that is not UTF-8. */
function modified(disk: Disk, path: string, signature: string | undefined): number | undefined {
  if (signature !== undefined) return Number(BigInt(signature.split('.')[2] ?? 0) / 1_000_000n);
  const found = disk.lstat(path);
  return found && Number(found.mtimeMs);
}
