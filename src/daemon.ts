import {statSync} from 'node:fs';
import {join} from 'node:path';
import type {Home} from './check/home.ts';
import {checkHome} from './check/index.ts';
import {exit} from './errors.ts';
import {hasErrors, type Problem} from './files/diagnostic.ts';
import type {Happening} from './happening.ts';
import {loadHome} from './load.ts';
import {type Change, Journal} from './store/journal.ts';
import {watchHome} from './store/watch.ts';

export interface ServeOptions {
  home: string;
  once: boolean;
  report: (happening: Happening) => void;
}

/** A file that is missing or does not parse may be half saved: it counts only after it has stayed so. */
const SETTLED_MS = 1_000;
const SCAN_MS = 2_000;
const HINT_MS = 50;

/**
 * Serve a home: whenever something may have changed, look at what is there, say what is wrong with it, and commit the
 * person's edits as theirs. Everything follows from the files and git; an event only says that a look is worth while.
 */
export async function serve({home: dir, once, report}: ServeOptions): Promise<number> {
  const journal = await Journal.open(dir);
  let shown = new Map<string, Problem>();
  let waiting: string | undefined;

  /** One look. Returns whether something is left that a later look must take up. */
  const look = async (cause: string): Promise<{home: Home; problems: Problem[]; again: boolean; stuck: boolean}> => {
    const {home, texts} = loadHome(dir);
    const problems = checkHome(home);
    const changes = await journal.changes();
    const unsettled = new Set(
      once ? [] : changes.filter(change => isUnsettled(dir, change, problems)).map(change => change.path),
    );
    shown = tell(
      problems.filter(p => !unsettled.has(p.file)),
      shown,
      texts,
      report,
    );
    const ready = changes.filter(change => !unsettled.has(change.path));
    const busy = ready.length > 0 ? journal.busy() : undefined;
    let failed: string | undefined;
    if (!busy) {
      for (const change of ready) {
        const commit = await journal.commit(change, cause);
        if (!('failed' in commit)) report({event: 'committed', commit});
        // Nothing is left to commit if the person just did it themselves.
        else if (!/nothing to commit|no changes added/.test(commit.failed))
          failed = `${change.path} is not committed: ${commit.failed}`;
      }
    }
    const why = busy ?? failed;
    if (why && why !== waiting) report({event: 'waiting', why});
    waiting = why;
    return {home, problems, again: unsettled.size > 0 || busy !== undefined, stuck: why !== undefined};
  };

  const first = await look('recovered');
  if (once) return first.stuck ? exit.failed : onceCode(first.home, first.problems);
  const tasks = first.home.tasks.reduce((sum, {file}) => sum + file.tasks.length, 0);
  report({
    event: 'serving',
    home: dir,
    agents: first.home.templates.length,
    sessions: first.home.sessions.length,
    tasks,
  });
  await untilStopped(dir, async () => (await look('edit')).again);
  report({event: 'stopped'});
  return exit.done;
}

/** Report problems that are new, and those that are gone; the problems shown now. One that only moved is the same. */
function tell(
  problems: readonly Problem[],
  before: ReadonlyMap<string, Problem>,
  texts: ReadonlyMap<string, string>,
  report: ServeOptions['report'],
): Map<string, Problem> {
  const now = new Map<string, Problem>();
  for (const problem of problems) {
    let key = `${problem.file}\0${problem.code}\0${problem.message}`;
    while (now.has(key)) key += '+';
    now.set(key, problem);
  }
  for (const [key, problem] of before) if (!now.has(key)) report({event: 'cleared', problem});
  for (const [key, problem] of now)
    if (!before.has(key)) report({event: 'problem', problem, text: texts.get(problem.file)});
  return now;
}

function isUnsettled(dir: string, change: Change, problems: readonly Problem[]): boolean {
  let age: number;
  try {
    age = Date.now() - statSync(join(dir, change.path)).mtimeMs;
  } catch {
    // Gone. Its folder's time tells since when; a rename into place in the meantime is seen by the next look.
    try {
      age = Date.now() - statSync(join(dir, change.path, '..')).mtimeMs;
    } catch {
      return false;
    }
  }
  const doubtful =
    change.how === 'removed' ||
    problems.some(p => p.file === change.path && p.severity === 'error') ||
    isEmpty(dir, change.path);
  return doubtful && age >= 0 && age < SETTLED_MS;
}

function isEmpty(dir: string, path: string): boolean {
  try {
    return statSync(join(dir, path)).size === 0;
  } catch {
    return true;
  }
}

/** Look after every hint and every few seconds, one look at a time, until SIGINT or SIGTERM. */
async function untilStopped(dir: string, look: () => Promise<boolean>): Promise<void> {
  let wake = () => {};
  let hinted = false;
  let stopped = false;
  const poke = () => {
    hinted = true;
    wake();
  };
  const stop = () => {
    stopped = true;
    wake();
  };
  const watcher = watchHome(dir, poke);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    for (let again = false; !stopped; ) {
      if (!hinted) await pause(again ? SETTLED_MS / 4 : SCAN_MS, resume => (wake = resume));
      if (stopped) break;
      if (hinted) await pause(HINT_MS, () => {});
      hinted = false;
      again = await look();
    }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await watcher.close();
  }
}

function pause(ms: number, onWake: (resume: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms);
    onWake(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** 1: a session is in error (or an edit could not be committed); 4: a file has errors; 3: something waits for a person; 0: all is done. */
function onceCode(home: Home, problems: readonly Problem[]): number {
  if (home.sessions.some(({file}) => file.header?.status === 'error')) return exit.failed;
  if (hasErrors(problems)) return exit.badFile;
  const decisions = home.queue.some(({item}) => !item.decision && (item.status ?? 'pending') === 'pending');
  const forHuman = home.tasks.some(({file}) =>
    file.tasks.some(task => task.state === 'pending' && task.names.includes('human')),
  );
  return decisions || forHuman ? exit.waiting : exit.done;
}
