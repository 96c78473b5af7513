import {exit} from './errors.ts';
import type {Report} from './happening.ts';
import {type Outcome, Queue} from './queue.ts';
import {Approvals} from './serve/approvals/approvals.ts';
import {brokenDisk} from './serve/broken-disk.ts';
import {forgetOutdated, remember, restore} from './serve/cache.ts';
import {StartedCalls} from './serve/calls/started-calls.ts';
import {claim} from './serve/claim.ts';
import {Current} from './serve/current.ts';
import {untilRoom} from './serve/full-disk.ts';
import {Ignored} from './serve/ignored.ts';
import {unseenInboxes} from './serve/inbox/inbox-missed.ts';
import {Inboxes} from './serve/inbox/inboxes.ts';
import {Schedules} from './serve/inbox/schedules.ts';
import {Latest, Texts} from './serve/known.ts';
import {findLastGood} from './serve/last-good.ts';
import {recoverReplaced} from './serve/late.ts';
import {lookAtSlots} from './serve/look-again.ts';
import {Looker} from './serve/looker.ts';
import {Mail} from './serve/mail/mail.ts';
import {Needs} from './serve/needs.ts';
import {workOnce} from './serve/once.ts';
import {recoverFromGit, recoverVersions} from './serve/recover.ts';
import {makeRedaction, redactError, redactReport} from './serve/redaction.ts';
import {Renames} from './serve/renames.ts';
import {Scanner} from './serve/scanner.ts';
import type {Serving} from './serve/serving.ts';
import {settleDown} from './serve/settle-down.ts';
import {systemWorld} from './serve/system-world.ts';
import {TasksHeard} from './serve/tasks/task-news.ts';
import {Troubles} from './serve/troubles.ts';
import {writeSpend} from './serve/turns/budget.ts';
import {Segments} from './serve/turns/segments.ts';
import {Spend} from './serve/turns/spend.ts';
import {Turns} from './serve/turns/turns.ts';
import {wakeInTime} from './serve/turns/wake.ts';
import type {World} from './serve/world.ts';
import {type Cancel, timestamp} from './store/clock.ts';
import {servedSince} from './store/served-since.ts';
import {hasVersionLog, logFolder} from './store/versions/log-folder.ts';
import {VersionLog} from './store/versions/version-log.ts';
import {Versions} from './store/versions/versions.ts';
import {watchHome} from './store/watch.ts';

export interface ServeOptions {
  home: string;
  once: boolean;
  version: string;
  report: Report;
  /** What is outside of the daemon, if not this machine. */
  world?: World;
}

const REMEMBER_MS = 60_000;

/**
 * Serve a home: whatever may have changed is a path in the queue; each path is looked at, and what follows from the
 * file as it is now is done. The watch and the scan only say where to look.
 */
export async function serve({
  home,
  once,
  version,
  report: tell,
  world = systemWorld(home),
}: ServeOptions): Promise<number> {
  const {disk, random, environment} = world;
  const {clock} = disk;
  const redact = makeRedaction(environment);
  const report = redactReport(redact, tell);
  const signals = world.untilStopped();
  /** A full disk is waited for, unless the work is to be done now. */
  const withRoom = <T>(step: () => T | Promise<T>): Promise<T | undefined> =>
    once ? Promise.resolve(step()) : untilRoom({clock, report, asked: signals.signal}, step);
  const held = await withRoom(() => claim(disk)).catch((error: unknown) => {
    signals.release();
    throw error;
  });
  if (!held) return exit.done;
  let served = false;
  let failed = false;
  try {
    const restoring = restore(disk, version);
    const looker = new Looker();
    const earlier = restoring.then(({committed}) => {
      if (!committed) looker.prepare();
      return committed;
    });
    const [journal, restored] = await Promise.all([world.git.openJournal(earlier), restoring]);
    forgetOutdated(restored, journal);
    await withRoom(() => world.git.excludeDerived());
    const {boot} = disk.processes.self();
    const isFirst = !hasVersionLog(disk);
    const upgrading = isFirst ? await import('./serve/upgrade.ts') : undefined;
    const log = await withRoom(() =>
      VersionLog.open(logFolder(disk), {now: clock.now, boot, checkpoint: restored.seq}),
    );
    if (!log) return exit.done;
    const before = restored.started ?? upgrading?.startedBefore(disk) ?? {since: timestamp(clock), names: []};
    const started = new StartedCalls(clock, before);
    started.add(log.started);
    const broken = brokenDisk();
    const troubles = new Troubles(clock, report, () => needs.changed());
    const waits = once ? new Map<string, number>() : undefined;
    const queue = new Queue({
      run: path => lookSafely(looker, serving, path, waits, broken.report),
      concurrency: () => (serving.loading ? LOADING_AT_ONCE : LOOKS_AT_ONCE),
      clock,
    });
    const serving: Serving = {
      home,
      disk,
      clock,
      random,
      world,
      version,
      name: 'home',
      journal,
      versions: new Versions(log, journal, committed => report({event: 'committed', ...committed})),
      ...restored.remembered,
      texts: new Texts(32 * 1024 * 1024),
      savedAt: new Map(),
      renames: new Renames(disk),
      latest: new Latest(16 * 1024 * 1024),
      approvals: new Approvals(clock),
      notes: new Map(),
      mail: new Mail(clock),
      inboxes: new Inboxes(servedSince(disk)),
      schedules: new Schedules({
        clock,
        settings: () => serving.current.settings(),
        look: any => lookAtSlots(serving, any),
      }),
      segments: new Segments(disk),
      edits: new Map(),
      tasks: new TasksHeard(),
      woken: new Map(),
      ending: new Map(),
      closing: new Set(),
      cloned: new Set(),
      started,
      spend: new Spend({
        clock,
        onDue: () => writeSpend(serving),
        onNewDay: () => serving.waits.allChanged(),
      }),
      nudged: new Set(),
      pending: new Map(),
      shown: new Map(),
      making: new Set(),
      unplaced: new Map(),
      late: new Map(),
      ignored: new Ignored(clock, journal),
      troubles,
      // Begins with a letter: where it is written, nobody can take it for a number, and the quick ways of YAML hold.
      run: `r${random.bytes(6).toString('hex')}`,
      once,
      turns: new Turns(clock, path => queue.add(path)),
      current: new Current(() => serving),
      models: undefined,
      queries: undefined,
      model: undefined,
      sandbox: world.sandbox,
      confinement: undefined,
      queue,
      redact,
      report,
      watching: () => watch !== undefined && watch.trouble === undefined,
      cause: 'recovered',
      loading: true,
      hurry: false,
      onSettings: () => {
        void serving.schedules.tick();
        for (const path of serving.inboxes.waiting()) queue.add(path);
        if (served) void looker.announce(serving);
      },
      onChanged: () => needs.changed(),
    };
    /** Nothing may be written to the old path of a home that was moved or deleted: the daemon ends. */
    const isGone = () => {
      if (!held.isHomeGone()) return false;
      broken.report(
        new Error(`the home is gone: ${home} was moved or deleted. Start the daemon where the home is now`),
      );
      return true;
    };
    const needs = new Needs(serving, isGone);
    const scanner = new Scanner(
      serving,
      directory => watch?.cover(directory),
      () => {
        if (isGone()) return;
        if (!held.renew()) broken.report(new Error('another daemon has taken this home over'));
        needs.verify();
        for (const path of unseenInboxes(serving)) serving.queue.add(path);
        wakeInTime(serving);
      },
    );
    const watch =
      once || environment.AGENTDIR_NO_WATCH ? undefined : watchHome(disk, (path, event) => scanner.hint(path, event));
    // What follows from an edit comes before its commit, and is committed with it.
    journal.expecting = () => serving.turns.underWay > 0 || serving.approvals.starting;
    journal.onWaiting = why => troubles.set('journal', why);
    try {
      await withRoom(() => recoverVersions(serving));
      await upgrading?.upgrade(serving);
      await recoverFromGit(serving, restored.committed?.commit);
      recoverReplaced(serving);
      await scanner.first(looker);
      await findLastGood(serving);
      serving.versions.startPublishing();
      if ([...serving.index.sessions()].some(({host}) => host)) await looker.suspectEarlier(serving);
      serving.approvals.changedBefore.clear();
      if (once) {
        scanner.loaded();
        await serving.schedules.tick();
        return await workOnce(serving);
      }
      const {agents, sessions, tasks} = serving.index.counts();
      served = true;
      report({event: 'serving', home, pid: disk.processes.self().pid, agents, sessions, tasks});
      scanner.loaded();
      void serving.schedules.tick();
      void looker.announce(serving);
      void queue.whenIdle().then(() => {
        serving.cause = 'edit';
        return remember(serving);
      });
      scanner.start();
      const forgetTimer = rememberEvery(serving);
      const why = await Promise.race([signals.signal, broken.seen]);
      forgetTimer();
      report({event: 'stopping', why: why instanceof Error ? why.message : why});
      failed = why instanceof Error;
      if (why instanceof Error) needs.stopped(why.message);
      return failed ? exit.failed : exit.done;
    } finally {
      watch?.close();
      serving.schedules.close();
      await scanner.stop();
      const gone = isGone();
      await settleDown(serving, gone ? 'gone' : broken.found() ? 'broken' : 'asked');
      needs.write();
      needs.close();
      if (!gone) await remember(serving);
    }
  } catch (error) {
    throw redactError(redact, error);
  } finally {
    signals.release();
    held.release(failed);
    if (served) report({event: 'stopped'});
  }
}

/** Write the cache down every minute, until the function it gives is called. */
function rememberEvery(serving: Serving): Cancel {
  let cancel: Cancel;
  const again = () => {
    cancel = serving.clock.after(
      REMEMBER_MS,
      () => {
        void remember(serving);
        again();
      },
      'held',
    );
  };
  again();
  return () => cancel();
}

/** Looks that run beside each other while files are read for the first time: most of them wait for git. */
const LOADING_AT_ONCE = 64;
/** And later: enough to keep the disk busy, and few enough that a person's edit does not wait for what all of them have to do. */
const LOOKS_AT_ONCE = 8;

/** With `--once`, what is still waited for after this is left to the next run. */
const ONCE_WAIT_MS = 3_000;

/**
 * A look that fails is tried again later and later, and the person is told. With `--once` (`waits`: since when each is waited for) it is
 * not tried again, and what has to wait for a person (a rebase, a file that cannot be read) is not waited for.
 */
async function lookSafely(
  looker: Looker,
  serving: Serving,
  path: string,
  waits: Map<string, number> | undefined,
  onBroken: (error: Error) => void,
): Promise<Outcome> {
  const trouble = `look ${path}`;
  let outcome: Outcome;
  try {
    outcome = await looker.look(serving, path);
    serving.troubles.set(trouble, undefined);
  } catch (error) {
    outcome = {failed: error as Error};
    serving.troubles.set(trouble, `${path}: ${(error as Error).message}`);
    if ((error as Error).name === 'NotDurable') onBroken(error as Error);
  }
  if (!waits || !outcome) return outcome;
  const since = waits.get(path) ?? serving.clock.monotonic();
  waits.set(path, since);
  return 'failed' in outcome || serving.clock.monotonic() - since > ONCE_WAIT_MS ? undefined : outcome;
}
