import {type FSWatcher, mkdirSync, readdirSync, statSync, watch} from 'node:fs';
import {join} from 'node:path';
import {type LiveEvent, liveFolder, livePath} from './live.ts';
import {identityOf, LiveTail} from './live-tail.ts';

/** Default: the output of all sessions. */
export interface LiveFilter {
  session?: string | undefined;
  agent?: string | undefined;
}

/** How often to poll for events that the watch missed. */
const LOOK_MS = 200;
const LOOK_AT_ALL_MS = 1_000;
/** Older files have no unfinished turn. */
const RECENT_MS = 60 * 60 * 1000;

/** The events of a session's last turn, finished or not. */
export function readLive(home: string, session: string): LiveEvent[] {
  const tail = new LiveTail(livePath(home, session));
  try {
    return lastTurn(tail.read());
  } finally {
    tail.close();
  }
}

/** Sessions with recent live output, latest first. */
export function liveSessions(home: string): string[] {
  const times = namesIn(home).map(name => ({name, time: modified(join(liveFolder(home), name))}));
  return times
    .filter(({time}) => time > Date.now() - RECENT_MS)
    .sort((a, b) => b.time - a.time)
    .map(({name}) => name.slice(0, -'.jsonl'.length));
}

/**
 * Call `onEvent` with each event, in order and exactly once: the events of unfinished turns before this returns, then new ones.
 * Resolves when `signal` aborts.
 */
export function followLive(
  home: string,
  {session, agent}: LiveFilter,
  onEvent: (event: LiveEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const tails = new Map<string, LiveTail>();
  const emit = (events: readonly LiveEvent[]) => {
    for (const event of events) if (agent === undefined || event.agent === agent) onEvent(event);
  };
  const names = () => (session === undefined ? namesIn(home) : [`${session}.jsonl`]);
  const look = (name: string) => {
    const tail = tails.get(name) ?? new LiveTail(join(liveFolder(home), name));
    tails.set(name, tail);
    emit(tail.read());
  };
  for (const name of names()) {
    const tail = new LiveTail(join(liveFolder(home), name));
    tails.set(name, tail);
    if (modified(tail.path) < Date.now() - RECENT_MS) tail.skip();
    else {
      const turn = lastTurn(tail.read());
      if (turn.at(-1)?.event !== 'end') emit(turn);
    }
  }
  const hints = new FolderWatch(liveFolder(home), name => {
    if (session === undefined ? isLive(name) : name === `${session}.jsonl`) look(name);
  });
  return new Promise(resolve => {
    const timer = setInterval(
      () => {
        hints.renew();
        for (const name of names()) look(name);
      },
      session === undefined ? LOOK_AT_ALL_MS : LOOK_MS,
    );
    const stop = () => {
      clearInterval(timer);
      hints.close();
      for (const tail of tails.values()) tail.close();
      resolve();
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, {once: true});
  });
}

function lastTurn(events: readonly LiveEvent[]): LiveEvent[] {
  const begin = events.findLastIndex(({event}) => event === 'begin');
  return begin === -1 ? [] : events.slice(begin);
}

const isLive = (name: string) => name.endsWith('.jsonl') && !name.startsWith('.');

function namesIn(home: string): string[] {
  try {
    return readdirSync(liveFolder(home)).filter(isLive);
  } catch {
    return [];
  }
}

function modified(path: string): number {
  return statSync(path, {throwIfNoEntry: false})?.mtimeMs ?? 0;
}

/** A watch on a folder that may be removed and created again. */
class FolderWatch {
  readonly #folder: string;
  readonly #hint: (name: string) => void;
  #watcher: FSWatcher | undefined;
  #identity = '';

  constructor(folder: string, hint: (name: string) => void) {
    this.#folder = folder;
    this.#hint = hint;
    this.renew();
  }

  renew(): void {
    const identity = identityOf(this.#folder);
    if (this.#watcher && identity === this.#identity) return;
    this.close();
    this.#identity = identity;
    try {
      if (identity === '') mkdirSync(this.#folder, {recursive: true});
      this.#watcher = watch(this.#folder, {persistent: false}, (_event, name) => {
        if (name !== null) this.#hint(name);
      });
      this.#watcher.on('error', () => this.close());
    } catch {
      // No folder yet, or no more watches: polling finds the events.
    }
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
