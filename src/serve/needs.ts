import {lstatSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {needsYou} from '../check/needs-you.ts';
import {writeDerived, writeOver} from '../store/cache.ts';
import {crashPoint} from '../store/crash.ts';
import {type Status, statusPath} from '../store/status.ts';
import type {With} from './parts.ts';
import {inWords} from './troubles.ts';

/** Many changes at once; and where there is much to tell, what is under way goes first. */
const COALESCE_MS = 50;
const LARGEST_SHARE = 1 / 20;
const LONGEST_MS = 500;
const RETRY_MS = 2_000;

/** What they are made from. */
type Shown = With<'files' | 'reports' | 'approvals' | 'status'>;

/** Keeps NEEDS_YOU.md and the daemon's status file in step with what the daemon knows. */
export class Needs {
  readonly #daemon: Shown;
  readonly #since = new Date().toISOString();
  #timer: NodeJS.Timeout | undefined;
  /** How long it took the last time. */
  #took = 0;
  #written = '';
  #writtenStatus = '';
  #stopped: Status['stopped'];

  constructor(daemon: Shown) {
    this.#daemon = daemon;
  }

  /** Something changed: write soon, many changes at once. */
  changed(): void {
    const wait = Math.min(LONGEST_MS, Math.max(COALESCE_MS, this.#took / LARGEST_SHARE));
    this.#timer ??= setTimeout(() => this.write(), wait);
  }

  /** The daemon stops by itself: what is written from here on says why. */
  stopped(why: string): void {
    this.#stopped = {why, at: new Date().toISOString()};
  }

  write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const begun = performance.now();
    const {files} = this.#daemon;
    const {home} = files;
    const needs = this.#try('NEEDS_YOU.md', () => {
      const text = this.#text();
      if (text === this.#written) return;
      crashPoint('needs-you-write');
      writeDerived(join(home, 'NEEDS_YOU.md'), text);
      this.#written = text;
    });
    // Where the one cannot be written the other may be, and say so.
    const status = this.#try('.agentdir/status.json', () => {
      const text = JSON.stringify(this.#daemon.reports.redact.value(this.#status()), null, 2);
      if (text === this.#writtenStatus) return;
      writeOver(statusPath(home), text);
      this.#writtenStatus = text;
    });
    this.#took = performance.now() - begun;
    if (needs && status) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.write(), RETRY_MS).unref();
  }

  #try(path: string, write: () => void): boolean {
    const {reports} = this.#daemon;
    const {troubles} = reports;
    try {
      write();
      troubles.set(path, undefined);
      return true;
    } catch (error) {
      troubles.set(path, inWords(path, error as Error));
      return false;
    }
  }

  /** Somebody removed or changed what is derived: write it again. */
  verify(): void {
    const {files} = this.#daemon;
    const {home} = files;
    const is = (path: string, text: string) => {
      try {
        return readFileSync(path, 'utf8') === text;
      } catch {
        return false;
      }
    };
    if (!is(join(home, 'NEEDS_YOU.md'), this.#written)) this.#written = '';
    if (!is(statusPath(home), this.#writtenStatus)) this.#writtenStatus = '';
    if (this.#written === '' || this.#writtenStatus === '') this.write();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #text(): string {
    const {files, reports} = this.#daemon;
    const {home, index, known} = files;
    const {troubles, redact} = reports;
    const sinceOf = (path: string) => {
      const time = modified(home, path, known.get(path)?.signature);
      return time === undefined ? '' : new Date(time).toISOString();
    };
    const pageOf = (id: string) => index.definitionsOf(`page/${id}`)[0]?.path;
    return redact.text(
      needsYou({problems: index.all(), needs: index.needs(), troubles: troubles.list(), sinceOf, home, pageOf}),
    );
  }

  #status(): Status {
    const {files, reports, status, approvals} = this.#daemon;
    const {home, index} = files;
    const {troubles} = reports;
    const {sessions, version, watching, model, confinement} = status;
    const problems = index.all();
    const needs = index.needs();
    const errors = problems.filter(({severity}) => severity === 'error').length;
    const {agents, tasks} = index.counts();
    return {
      pid: process.pid,
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

/** Milliseconds: from a signature, else from what is there, be it a file or not. A name that is not UTF-8 finds nothing. */
function modified(home: string, path: string, signature: string | undefined): number | undefined {
  if (signature !== undefined) return Number(BigInt(signature.split('.')[2] ?? 0) / 1_000_000n);
  const found = lstatSync(join(home, path), {throwIfNoEntry: false});
  return found && Math.trunc(found.mtimeMs);
}
