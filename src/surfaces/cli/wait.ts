import {statSync} from 'node:fs';
import {join} from 'node:path';
import {UserError} from '../../formats/common/errors.ts';
import {holdOf} from '../../formats/holds-file.ts';
import type {Message, SessionHeader} from '../../formats/session/session-schema.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {followLive} from '../../home/live-read.ts';
import type {SessionFile} from '../../home/session-files.ts';
import {daemonOf} from '../../home/status.ts';
import {soundHolds} from '../actions/agents/holds.ts';
import type {Request} from '../actions/decide/queue.ts';
import {awaitedRequests, requestsBelow} from '../actions/decide/waits-for.ts';
import {openChildIds} from '../actions/sessions/children.ts';
import {type AskedMessage, progressOf, type WaitEnd} from '../actions/talk/answer.ts';
import {type FoundSession, readSession} from '../actions/talk/find-session.ts';
import type {AnswerScreen} from './answer-screen.ts';
import {ChildProgress} from './child-progress.ts';

const LOOK_MS = 40;
/** Tolerates half-saved files and a daemon that is restarting. */
const PATIENCE_MS = 3_000;
/** A busy daemon may take so long to act on a decision. */
const DECIDED_MS = 60_000;

export interface AnswerWait {
  home: string;
  file: SessionFile;
  asked: AskedMessage;
  screen: AnswerScreen;
  timeoutMs: number | undefined;
  /** How many replies the screen has, from an earlier wait for the same answer. */
  given?: number;
  /** A person has just decided: the session goes on as soon as the daemon has seen it. */
  isDecided?: boolean;
  /** Told of sessions that do tasks for this one. */
  tell?: (line: string) => void;
  /** Ends the wait. */
  signal?: AbortSignal;
}

export interface AnswerWaitResult {
  over: WaitEnd | 'timeout' | 'no-daemon' | 'stopped' | 'left';
  replies: readonly Message[];
  header: SessionHeader | undefined;
  /** Pending requests. */
  requests: readonly Request[];
}

/** Waits until the message is answered. The session file is authoritative, not the live output. */
export async function waitForAnswer(wait: AnswerWait): Promise<AnswerWaitResult> {
  const {home, file, asked, screen, timeoutMs} = wait;
  const looker = new SessionLooker(home, file);
  const daemon = patient(() => daemonOf(nodeDisk(home)) !== undefined);
  let given = wait.given ?? 0;
  let [place, answers] = [Number.POSITIVE_INFINITY, 0];
  let result: AnswerWaitResult = {over: 'no-daemon', replies: [], header: undefined, requests: []};
  let undecided: (() => Request[]) | undefined;
  const children = new ChildProgress(home, wait.tell ?? (() => {}));
  let delegates = false;
  const works = patient(() => holdOf(soundHolds(home), result.header?.agent_id ?? '') === undefined);
  const stuck = patient(() => undecided === undefined, wait.isDecided ? DECIDED_MS : PATIENCE_MS);
  const look = (): WaitEnd | undefined => {
    const found = looker.look();
    if (!found) return looker.gone ? 'removed' : undefined;
    const {messages} = found.session;
    const {at, replies, over} = progressOf(found.header, messages, asked);
    for (const reply of replies.slice(given)) screen.reply(reply);
    place = at;
    answers = replies.length + messages.slice(0, at + 1).filter(({role}) => role === 'assistant').length;
    given = Math.max(given, replies.length);
    result = {...result, replies, header: found.header};
    const ids = over === 'waiting' ? awaitedRequests(found.header, messages) : [];
    const open = over === 'waiting' ? openChildIds(messages) : [];
    children.look(messages);
    delegates = open.length > 0;
    undecided = over === 'waiting' ? () => requestsBelow(home, ids, open) : undefined;
    return over;
  };
  const stop = new AbortController();
  const follow = followLive(
    home,
    {session: file.id},
    event => {
      if (event.event === 'begin') look();
      // Ignore turns that started before the message.
      if (event.event !== 'begin' || (event.after?.messages ?? 0) > place) screen.live(event, answers);
    },
    stop.signal,
  );
  try {
    for (const end = performance.now() + (timeoutMs ?? Number.POSITIVE_INFINITY); ; ) {
      const over = look();
      // The queue follows the session with a short delay.
      const requests = undecided?.() ?? [];
      if (over === 'waiting' ? requests.length > 0 || !(delegates || stuck()) : over !== undefined)
        return {...result, over: over as WaitEnd, requests};
      if (wait.signal?.aborted) return {...result, over: 'left'};
      if (performance.now() > end) return {...result, over: 'timeout'};
      if (!daemon()) return {...result, over: 'no-daemon'};
      if (!works()) return {...result, over: 'stopped'};
      await new Promise(resolve => setTimeout(resolve, LOOK_MS));
    }
  } finally {
    stop.abort();
    await follow;
  }
}

/** Whether it is true, or was a moment ago. */
function patient(holds: () => boolean, ms = PATIENCE_MS): () => boolean {
  let last = performance.now();
  return () => {
    if (performance.now() - last < PATIENCE_MS / 3) return true;
    if (holds()) last = performance.now();
    return performance.now() - last < ms;
  };
}

/** Rereads a session file when it changes. Throws if it keeps errors. */
class SessionLooker {
  readonly #home: string;
  readonly #file: SessionFile;
  #signature = '';
  #found: FoundSession | undefined;
  #wrongSince: number | undefined;

  constructor(home: string, file: SessionFile) {
    this.#home = home;
    this.#file = file;
  }

  get gone(): boolean {
    return this.#found === undefined && this.#lasting();
  }

  look(): FoundSession | undefined {
    const stat = statSync(join(this.#home, this.#file.path), {bigint: true, throwIfNoEntry: false});
    const signature = stat ? `${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}` : '';
    if (signature !== '' && signature === this.#signature && this.#wrongSince === undefined) return this.#found;
    this.#signature = signature;
    try {
      this.#found = readSession(this.#home, this.#file, this.#found?.session);
      this.#wrongSince = this.#found ? undefined : (this.#wrongSince ?? performance.now());
    } catch (error) {
      this.#wrongSince ??= performance.now();
      if (!(error instanceof UserError) || this.#lasting()) throw error;
    }
    return this.#found;
  }

  #lasting(): boolean {
    return this.#wrongSince !== undefined && performance.now() - this.#wrongSince > PATIENCE_MS;
  }
}
