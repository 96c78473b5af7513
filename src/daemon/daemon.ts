import {writeSpend} from '../agents/sessions/budget.ts';
import {Approvals} from '../agents/state/approvals.ts';
import {Inboxes} from '../agents/state/inboxes.ts';
import {Mail} from '../agents/state/mail.ts';
import {Notes} from '../agents/state/notes.ts';
import type {Daemon, With} from '../agents/state/parts.ts';
import {makeRedaction, redactError, redactReport} from '../agents/state/redaction.ts';
import {Schedules} from '../agents/state/schedules.ts';
import {Segments} from '../agents/state/segments.ts';
import {Spend} from '../agents/state/spend.ts';
import {Tasks} from '../agents/state/task-news.ts';
import {Turns} from '../agents/state/turns.ts';
import {Workflows} from '../agents/state/workflows.ts';
import type {World} from '../agents/world/world.ts';
import {Tools} from '../effects/tools/provider.ts';
import {exit} from '../formats/common/errors.ts';
import type {Report} from '../formats/daemon-event.ts';
import {type Cancel, type Clock, timestamp} from '../home/disk/clock.ts';
import {servedSince} from '../home/served-since.ts';
import {hasVersionLog, logFolder} from '../home/versions/log-folder.ts';
import {VersionLog} from '../home/versions/version-log.ts';
import {Versions} from '../home/versions.ts';
import {watchHome} from '../home/watch.ts';
import {brokenDisk} from '../loop/broken-disk.ts';
import {claim} from '../loop/claim.ts';
import {CurrentConfig} from '../loop/current-config.ts';
import {RecentSnapshots, VersionTexts} from '../loop/file-state.ts';
import {waitForRoom} from '../loop/full-disk.ts';
import {allowAllGuard} from '../loop/guard.ts';
import type {HomeFiles} from '../loop/home-files.ts';
import {IgnoredFiles} from '../loop/ignored-files.ts';
import {findLastGood} from '../loop/last-good.ts';
import {recoverReplacedFiles} from '../loop/late-writes.ts';
import {lookAtSlots} from '../loop/look-again.ts';
import {type LookOutcome, Queue} from '../loop/queue.ts';
import {Reconcilers} from '../loop/reconciler.ts';
import {recoverFromGit, recoverVersions} from '../loop/recover.ts';
import {Renames} from '../loop/renames.ts';
import {Scanner} from '../loop/scanner.ts';
import {StartedCalls} from '../loop/started-calls.ts';
import {Troubles} from '../loop/troubles.ts';
import {forgetOutdated, readCheckpoint, writeCheckpoint} from './checkpoint.ts';
import {Looker} from './looker.ts';
import {Notifier} from './notify.ts';
import {runOnce} from './run-once.ts';
import {shutDown} from './shut-down.ts';
import {StatusFiles} from './status-files.ts';
import {systemWorld} from './system-world.ts';

export interface ServeOptions {
  home: string;
  once: boolean;
  version: string;
  report: Report;
  /** The outside world: disk, clock, git and models. Defaults to this machine. */
  world?: World;
}

const CHECKPOINT_MS = 60_000;

/**
 * Serve a home: watch and scan put paths that may have changed into the queue; a look at each path reads the file and acts on its current
 * content. Returns the exit code.
 */
export async function serve({home, once, version, report: reportTo, world: given}: ServeOptions): Promise<number> {
  const world = given ?? (await systemWorld(home));
  const {disk, random, environment} = world;
  const {clock} = disk;
  const redact = makeRedaction(environment);
  const notifier = new Notifier(home, environment);
  const report = redactReport(redact, event => {
    reportTo(event);
    if (!once) notifier.follow(event);
  });
  const signals = world.untilStopped();
  /** Wait while the disk is full, except with `--once`. */
  const withRoom = <T>(step: () => T | Promise<T>): Promise<T | undefined> =>
    once ? Promise.resolve(step()) : waitForRoom({clock, report, asked: signals.signal}, step);
  const claimed = await withRoom(() => claim(disk)).catch((error: unknown) => {
    signals.release();
    throw error;
  });
  if (!claimed) return exit.done;
  let served = false;
  let failed = false;
  try {
    const restoring = readCheckpoint(disk, version);
    const looker = new Looker(() => daemon);
    const earlier = restoring.then(({committed}) => {
      if (!committed) looker.prepare();
      return committed;
    });
    const [journal, restored] = await Promise.all([world.git.openJournal(earlier), restoring]);
    forgetOutdated(restored, journal);
    await withRoom(() => world.git.excludeDerived());
    const {boot} = disk.processes.self();
    const isFirst = !hasVersionLog(disk);
    const upgrading = isFirst ? await import('../loop/upgrade.ts') : undefined;
    const log = await withRoom(() =>
      VersionLog.open(logFolder(disk), {now: clock.now, boot, checkpoint: restored.seq}),
    );
    if (!log) return exit.done;
    const before = restored.started ?? upgrading?.callsStartedByV01(disk) ?? {since: timestamp(clock), names: []};
    const started = new StartedCalls(clock, before);
    started.add(log.started);
    const broken = brokenDisk();
    const troubles = new Troubles(clock, report, () => needs.changed());
    const waitingSince = once ? new Map<string, number>() : undefined;
    const queue = new Queue({
      run: path => lookSafely(looker, path, {troubles, clock, waitingSince, onBroken: broken.report}),
      concurrency: () => (files.phase.loading ? LOADING_AT_ONCE : LOOKS_AT_ONCE),
      clock,
    });
    const {sandbox} = world;
    const tools = new Tools(world.tools ? [world.tools] : []);
    const {known, index, sessions, waits, causes, kinds, phase} = restored.remembered;
    const files: HomeFiles = {
      home,
      disk,
      name: 'home',
      journal,
      versions: new Versions(log, journal, committed => report({event: 'committed', ...committed})),
      queue,
      index,
      known,
      caches: {texts: new VersionTexts(32 * 1024 * 1024), snapshots: new RecentSnapshots(16 * 1024 * 1024)},
      looks: {
        pending: new Map(),
        lookAgain: new Set(),
        reportedProblems: new Map(),
        beingCreated: new Set(),
        savedAt: new Map(),
        waitsForGit: new Map(),
        lateWrites: new Map(),
        unplaced: new Map(),
        ignored: new IgnoredFiles(clock, journal),
        renames: new Renames(disk),
      },
      kinds: {reconcilers: new Reconcilers(), guard: allowAllGuard, followers: kinds.followers},
      phase: {cause: 'recovered', loading: true, unsaved: phase.unsaved, hurry: false, once},
    };
    const current = new CurrentConfig(files);
    const schedules = new Schedules({
      clock,
      settings: () => current.settings(),
      look: any => lookAtSlots(daemon.files, any),
    });
    const daemon: Daemon = {
      files,
      reports: {report, troubles, redact, changed: () => needs.changed()},
      current,
      turns: new Turns(clock, new Segments(disk), path => queue.add(path)),
      mail: new Mail(clock),
      approvals: new Approvals(clock, waits, started),
      inboxes: new Inboxes(servedSince(disk), schedules),
      tasks: new Tasks(),
      notes: new Notes(),
      spend: new Spend({clock, causes, onDue: () => writeSpend(daemon.files), onNewDay: () => waits.allChanged()}),
      workflows: new Workflows(disk),
      effects: {
        // Begins with a letter, so that YAML never parses it as a number.
        run: `r${random.bytes(6).toString('hex')}`,
        world,
        tools,
        sandbox,
        runner: {ask: beforeFirstLook, execute: beforeFirstLook},
        services: beforeFirstLook,
        queries: undefined,
        cloned: new Set(),
      },
      status: {
        version,
        model: undefined,
        confinement: undefined,
        watching: () => watch !== undefined && watch.trouble === undefined,
        sessions,
        announce: () => {
          if (served) void looker.announce();
        },
      },
    };
    /** If the home was moved or deleted, nothing may be written to its old path: stop the daemon. */
    const isGone = () => {
      if (!claimed.isHomeGone()) return false;
      broken.report(
        new Error(`the home is gone: ${home} was moved or deleted. Start the daemon where the home is now`),
      );
      return true;
    };
    notifier.serve(daemon);
    const needs = new StatusFiles(daemon, isGone);
    const scanner = new Scanner(
      daemon,
      directory => watch?.cover(directory),
      () => {
        if (isGone()) return;
        if (!claimed.renew()) broken.report(new Error('another daemon has taken over this home'));
        needs.verify();
      },
    );
    const watch =
      once || environment.AGENTDIR_NO_WATCH ? undefined : watchHome(disk, (path, event) => scanner.hint(path, event));
    // Wait for the consequences of an edit, so that they are published with it.
    journal.expecting = () => daemon.turns.underWay > 0 || daemon.approvals.isStepOpen || daemon.spend.isWriting;
    journal.onWaiting = why => troubles.set('journal', why);
    try {
      await withRoom(() => recoverVersions(daemon));
      await upgrading?.upgrade(daemon);
      await recoverFromGit(daemon.files, restored.committed?.commit);
      recoverReplacedFiles(daemon.files);
      await scanner.first(looker);
      await findLastGood(daemon.files);
      files.versions.startPublishing();
      if ([...index.sessions()].some(({host}) => host)) await looker.suspectEarlier();
      daemon.approvals.changedBefore.clear();
      if (once) {
        await scanner.loaded(looker);
        await schedules.tick();
        return await runOnce(daemon);
      }
      const {agents, sessions, tasks} = index.counts();
      served = true;
      report({event: 'serving', home, pid: disk.processes.self().pid, agents, sessions, tasks});
      await scanner.loaded(looker);
      void schedules.tick();
      void looker.announce();
      void queue.whenIdle().then(() => {
        files.phase.cause = 'edit';
        return writeCheckpoint(daemon);
      });
      scanner.start();
      const stopCheckpoints = writeCheckpoints(daemon);
      const why = await Promise.race([signals.signal, broken.seen]);
      stopCheckpoints();
      report({event: 'stopping', why: why instanceof Error ? why.message : why});
      failed = why instanceof Error;
      if (why instanceof Error) needs.stopped(why.message);
      return failed ? exit.failed : exit.done;
    } finally {
      watch?.close();
      schedules.close();
      await scanner.stop();
      const gone = isGone();
      await shutDown(daemon, gone ? 'gone' : broken.found() ? 'broken' : 'asked');
      needs.write();
      needs.close();
      if (!gone) await writeCheckpoint(daemon);
    }
  } catch (error) {
    throw redactError(redact, error);
  } finally {
    signals.release();
    claimed.release(failed);
    if (served) report({event: 'stopped'});
  }
}

/** Stands in for what the first look loads. */
function beforeFirstLook(): never {
  throw new Error('no file was looked at yet');
}

/** Write a checkpoint every minute, until the returned function is called. */
function writeCheckpoints(daemon: With<'files' | 'approvals' | 'status'>): Cancel {
  let cancel: Cancel;
  const again = () => {
    cancel = daemon.files.disk.clock.after(
      CHECKPOINT_MS,
      () => {
        void writeCheckpoint(daemon);
        again();
      },
      'held',
    );
  };
  again();
  return () => cancel();
}

/** Concurrent looks while loading: most of them wait for git. */
const LOADING_AT_ONCE = 64;
/** Concurrent looks while serving: enough to keep the disk busy, and few enough that a person's edit does not wait long. */
const LOOKS_AT_ONCE = 8;

/** With `--once`, how long to wait for a path before leaving it to the next run. */
const ONCE_WAIT_MS = 3_000;

interface Watching {
  troubles: Troubles;
  clock: Clock;
  /** With `--once`: since when each path waits. */
  waitingSince: Map<string, number> | undefined;
  /** The disk lost written data. */
  onBroken: (error: Error) => void;
}

/**
 * Look at a path. A failed look is reported and retried with growing delays. With `--once` it is not retried, and paths that wait for a
 * person (a rebase, an unreadable file) are left to the next run.
 */
async function lookSafely(
  looker: Looker,
  path: string,
  {troubles, clock, waitingSince, onBroken}: Watching,
): Promise<LookOutcome> {
  const trouble = `look ${path}`;
  let outcome: LookOutcome;
  try {
    const look = await looker.load();
    outcome = await look(path);
    troubles.set(trouble, undefined);
  } catch (error) {
    outcome = {failed: error as Error};
    troubles.set(trouble, `${path}: ${(error as Error).message}`);
    if ((error as Error).name === 'NotDurable') onBroken(error as Error);
  }
  if (!waitingSince) return outcome;
  if (!outcome) {
    waitingSince.delete(path);
    return undefined;
  }
  const since = waitingSince.get(path) ?? clock.monotonic();
  waitingSince.set(path, since);
  return 'failed' in outcome || clock.monotonic() - since > ONCE_WAIT_MS ? undefined : outcome;
}
