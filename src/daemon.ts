import {randomBytes} from 'node:crypto';
import {Tools} from './effects/tools/provider.ts';
import {exit} from './errors.ts';
import type {Report} from './happening.ts';
import {type Outcome, Queue} from './queue.ts';
import {lazyRunner} from './runners/runner.ts';
import {Approvals} from './serve/approvals/approvals.ts';
import {brokenDisk} from './serve/broken-disk.ts';
import {forgetOutdated, remember, restore} from './serve/cache.ts';
import {Notes} from './serve/calls/notes.ts';
import {StartedCalls} from './serve/calls/started-calls.ts';
import {claim} from './serve/claim.ts';
import {lazySandbox} from './serve/confinement.ts';
import {Current} from './serve/current.ts';
import {everythingCounts} from './serve/guard.ts';
import type {HomeFiles} from './serve/home-files.ts';
import {Ignored} from './serve/ignored.ts';
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
import type {Daemon} from './serve/parts.ts';
import {Reconcilers} from './serve/reconciler.ts';
import {recoverFromGit, recoverVersions} from './serve/recover.ts';
import {makeRedaction, redactError, redactReport} from './serve/redaction.ts';
import {Scanner} from './serve/scanner.ts';
import {settleDown} from './serve/settle-down.ts';
import {untilSignal} from './serve/signals.ts';
import {Tasks} from './serve/tasks/task-news.ts';
import {Troubles} from './serve/troubles.ts';
import {writeSpend} from './serve/turns/budget.ts';
import {Segments} from './serve/turns/segments.ts';
import {Spend} from './serve/turns/spend.ts';
import {Turns} from './serve/turns/turns.ts';
import {excludeDerived} from './store/exclude.ts';
import {thisProcess} from './store/holder.ts';
import {Journal} from './store/journal.ts';
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
}

const REMEMBER_MS = 60_000;

/**
 * Serve a home: whatever may have changed is a path in the queue; each path is looked at, and what follows from the
 * file as it is now is done. The watch and the scan only say where to look.
 */
export async function serve({home, once, version, report: tell}: ServeOptions): Promise<number> {
  const redact = makeRedaction(process.env);
  const report = redactReport(redact, tell);
  const held = claim(home);
  const signals = untilSignal();
  let served = false;
  let failed = false;
  try {
    const restoring = restore(home, version);
    const looker = new Looker(() => daemon);
    const earlier = restoring.then(({committed}) => {
      if (!committed) looker.prepare();
      return committed;
    });
    const [journal, restored] = await Promise.all([Journal.open(home, {}, earlier), restoring]);
    forgetOutdated(restored, journal);
    await excludeDerived(home);
    const {boot} = thisProcess();
    const isFirst = !hasVersionLog(home);
    const upgrading = isFirst ? await import('./serve/upgrade.ts') : undefined;
    const log = VersionLog.open(logFolder(home), {now: Date.now, boot, checkpoint: restored.seq});
    const before = restored.started ?? upgrading?.startedBefore(home) ?? {since: new Date().toISOString(), names: []};
    const started = new StartedCalls(before);
    started.add(log.started);
    const broken = brokenDisk();
    const troubles = new Troubles(report, () => needs.changed());
    const waitingSince = once ? new Map<string, number>() : undefined;
    const queue = new Queue({
      run: path => lookSafely(looker, troubles, path, waitingSince, broken.report),
      concurrency: 64,
    });
    const tools = new Tools();
    const sandbox = lazySandbox(home);
    const {known, index, sessions, waits, kinds, phase} = restored.remembered;
    const files: HomeFiles = {
      home,
      name: 'home',
      journal,
      queue,
      index,
      known,
      texts: new Texts(32 * 1024 * 1024),
      latest: new Latest(16 * 1024 * 1024),
      looks: {
        pending: new Map(),
        nudged: new Set(),
        shown: new Map(),
        making: new Set(),
        savedAt: new Map(),
        late: new Map(),
        unplaced: new Map(),
        ignored: new Ignored(journal),
      },
      kinds: {reconcilers: new Reconcilers(), guard: everythingCounts, followers: kinds.followers},
      phase: {cause: 'recovered', loading: true, unsaved: phase.unsaved, hurry: false, once},
      versions: new Versions(log, journal, committed => report({event: 'committed', ...committed})),
    };
    const current = new Current(files);
    const schedules = new Schedules({settings: () => current.settings(), look: any => lookAtSlots(daemon.files, any)});
    const daemon: Daemon = {
      files,
      reports: {report, troubles, redact, changed: () => needs.changed()},
      current,
      turns: new Turns(new Segments(home), path => queue.add(path)),
      mail: new Mail(),
      approvals: new Approvals(waits, started),
      inboxes: new Inboxes(servedSince(home), schedules),
      tasks: new Tasks(),
      notes: new Notes(),
      spend: new Spend({onDue: () => writeSpend(daemon.files), onNewDay: () => waits.allChanged()}),
      effects: {
        // Begins with a letter: where it is written, nobody can take it for a number, and the quick ways of YAML hold.
        run: `r${randomBytes(6).toString('hex')}`,
        tools,
        sandbox,
        runner: lazyRunner(async () => {
          const {inProcessRunner} = await import('./runners/in-process.ts');
          return inProcessRunner({tools, sandbox, redact, env: process.env});
        }),
        services: () => {
          throw new Error('nothing was looked at yet');
        },
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
    const needs = new Needs(daemon);
    const scanner = new Scanner(
      daemon,
      directory => watch?.cover(directory),
      () => {
        if (!held.renew()) broken.report(new Error('another daemon has taken this home over'));
        needs.verify();
      },
    );
    const watch = once || process.env.AGENTDIR_NO_WATCH ? undefined : watchHome(home, path => scanner.hint(path));
    // What follows from an edit comes before its commit, and is committed with it.
    journal.expecting = () => daemon.turns.underWay > 0 || daemon.approvals.starting;
    journal.onWaiting = why => troubles.set('journal', why);
    try {
      await recoverVersions(daemon);
      await upgrading?.upgrade(daemon);
      await recoverFromGit(daemon.files, restored.committed?.commit);
      recoverReplaced(daemon.files);
      await scanner.first(looker);
      await findLastGood(daemon.files);
      files.versions.startPublishing();
      if ([...index.sessions()].some(({host}) => host)) await looker.suspectEarlier();
      daemon.approvals.changedBefore.clear();
      if (once) {
        await scanner.loaded(looker);
        await schedules.tick();
        return await workOnce(daemon);
      }
      const {agents, sessions, tasks} = index.counts();
      served = true;
      report({event: 'serving', home, pid: process.pid, agents, sessions, tasks});
      await scanner.loaded(looker);
      void schedules.tick();
      void looker.announce();
      void queue.whenIdle().then(() => {
        files.phase.cause = 'edit';
        return remember(daemon);
      });
      scanner.start();
      const timer = setInterval(() => void remember(daemon), REMEMBER_MS);
      const why = await Promise.race([signals.signal, broken.seen]);
      clearInterval(timer);
      report({event: 'stopping', why: why instanceof Error ? why.message : why});
      failed = why instanceof Error;
      if (why instanceof Error) needs.stopped(why.message);
      return failed ? exit.failed : exit.done;
    } finally {
      watch?.close();
      schedules.close();
      await scanner.stop();
      await settleDown(daemon, broken.found());
      needs.write();
      needs.close();
      await remember(daemon);
    }
  } catch (error) {
    throw redactError(redact, error);
  } finally {
    signals.release();
    held.release(failed);
    if (served) report({event: 'stopped'});
  }
}

/** With `--once`, what is still waited for after this is left to the next run. */
const ONCE_WAIT_MS = 3_000;

/**
 * A look that fails is tried again later and later, and the person is told. With `--once` (`waitingSince`, by path) it is
 * not tried again, and what has to wait for a person (a rebase, a file that cannot be read) is not waited for.
 */
async function lookSafely(
  looker: Looker,
  troubles: Troubles,
  path: string,
  waitingSince: Map<string, number> | undefined,
  onBroken: (error: Error) => void,
): Promise<Outcome> {
  const trouble = `look ${path}`;
  let outcome: Outcome;
  try {
    outcome = await looker.look(path);
    troubles.set(trouble, undefined);
  } catch (error) {
    outcome = {failed: error as Error};
    troubles.set(trouble, `${path}: ${(error as Error).message}`);
    if ((error as Error).name === 'NotDurable') onBroken(error as Error);
  }
  if (!waitingSince || !outcome) return outcome;
  const since = waitingSince.get(path) ?? performance.now();
  waitingSince.set(path, since);
  return 'failed' in outcome || performance.now() - since > ONCE_WAIT_MS ? undefined : outcome;
}
