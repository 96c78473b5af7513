import type {NewCheckpoint} from '../../decide/compaction.ts';
import type {Reply} from '../../effects/model/answer.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import type {Cancel, Clock} from '../../home/disk/clock.ts';
import {DelegatedTasks} from './delegated-tasks.ts';
import type {Segments} from './segments.ts';
import {SlotPool} from './slots.ts';
import {WorkspaceLocks} from './workspace-locks.ts';

/** How a question to a model ended. `checkpoint`: the session had to be compacted first. `refused`: why a person's wish for that failed. */
export type QuestionResult =
  | {reply: Reply}
  | {failed: string; hint: string}
  | {limited: true}
  | {checkpoint: NewCheckpoint}
  | {refused: string};

/** A question to a model for one session. */
export interface Question {
  /** The messages of the session when it was asked. */
  basis: readonly Message[];
  /** The other inputs of the request: agent, model, prompt, segments. */
  around: string;
}

interface PendingQuestion extends Question {
  abort: AbortController;
  ended: QuestionResult | undefined;
}

interface Running {
  /** Undefined for calls that only read: they end soon. */
  abort: AbortController | undefined;
  ended: Promise<Message>;
  /** The result message, once the call has ended. */
  result: Message | undefined;
}

const MOST_COMMANDS = 32;
/** Hard limit: each command takes processes and up to eight file descriptors. */
const COMMAND_LIMIT = 48;
const NONE: ReadonlyMap<string, Message> = new Map();

/**
 * Questions and calls in progress, by session path. Nothing here is durable: after a crash, questions are asked again and
 * calls are found started but not ended. `onChange` is called when a question or call ends; the next look at the session
 * records the result.
 */
export class Turns {
  readonly slots: SlotPool;
  readonly commands = new SlotPool(() => MOST_COMMANDS, COMMAND_LIMIT);
  readonly workspaceLocks = new WorkspaceLocks();
  /** Older messages of sessions. */
  readonly segments: Segments;
  readonly delegated: DelegatedTasks;
  /** Paths of sessions to complete because their task is done. */
  readonly closing = new Set<string>();
  readonly #asked = new Map<string, PendingQuestion>();
  readonly #ahead = new Map<string, PendingQuestion>();
  readonly #running = new Map<string, Map<string, Running>>();
  readonly #clock: Clock;
  readonly #onChange: (path: string) => void;
  #waiters: (() => void)[] = [];
  readonly #stop = new AbortController();
  #count = 0;

  /** How many questions may be asked at a time, over all sessions. */
  concurrency = 8;

  constructor(clock: Clock, segments: Segments, onChange: (path: string) => void) {
    this.segments = segments;
    this.delegated = new DelegatedTasks(clock);
    this.#clock = clock;
    this.slots = new SlotPool(() => this.concurrency);
    this.#onChange = onChange;
  }

  /** A name for the next turn, unique within this run. */
  newTurn(): string {
    return `${++this.#count}`;
  }

  get stopped(): boolean {
    return this.stopping.aborted;
  }

  /** Aborted when nothing more is to begin. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  question(path: string): (Question & {ended: QuestionResult | undefined}) | undefined {
    return this.#asked.get(path);
  }

  /** The next question, asked before the answer to the previous one is recorded. */
  questionAhead(path: string): Question | undefined {
    return this.#ahead.get(path);
  }

  /** Wait until `questionAhead` is answered, at most `ms`. */
  async waitForQuestionAhead(
    path: string,
    ms: number,
  ): Promise<(Question & {ended: QuestionResult | undefined}) | undefined> {
    const asked = this.#ahead.get(path);
    const end = this.#clock.monotonic() + ms;
    while (asked && !asked.ended && this.#ahead.get(path) === asked && this.#clock.monotonic() < end)
      await Promise.race([this.whenChanged(), this.#clock.pause(end - this.#clock.monotonic())]);
    return this.#ahead.get(path);
  }

  /**
   * Ask a question and abort the one it replaces. `answer` resolves to undefined if aborted. `ahead`: the previous answer
   * is not recorded yet; this question becomes the current one in `answered`.
   */
  ask(
    path: string,
    question: Question,
    ahead: boolean,
    answer: (signal: AbortSignal) => Promise<QuestionResult | undefined>,
  ) {
    if (this.stopped) return;
    const asked: PendingQuestion = {...question, abort: new AbortController(), ended: undefined};
    const all = ahead ? this.#ahead : this.#asked;
    const before = all.get(path);
    all.set(path, asked);
    before?.abort.abort();
    const failed = (error: Error): QuestionResult => ({
      failed: error.message,
      hint: 'set "status: active" to try again',
    });
    void answer(asked.abort.signal)
      .catch(failed)
      .then(ended => {
        if (this.#asked.get(path) !== asked && this.#ahead.get(path) !== asked) return;
        if (ended) asked.ended = ended;
        else for (const all of [this.#asked, this.#ahead]) if (all.get(path) === asked) all.delete(path);
        this.#changed(path);
      });
  }

  /** Forget the question, because its answer is recorded. */
  answered(path: string): void {
    const ahead = this.#ahead.get(path);
    this.#ahead.delete(path);
    if (ahead) this.#asked.set(path, ahead);
    else this.#asked.delete(path);
    this.#wake();
  }

  /** Abort and forget the questions of this session. */
  dropQuestions(path: string): void {
    for (const all of [this.#asked, this.#ahead]) {
      const asked = all.get(path);
      all.delete(path);
      asked?.abort.abort();
    }
    this.#wake();
  }

  isRunning(path: string, call: string): boolean {
    return this.#running.get(path)?.has(call) ?? false;
  }

  /** Track a running call. `result` must not reject. `abort` ends the call early. */
  run(path: string, call: string, abort: AbortController | undefined, result: Promise<Message>): void {
    const calls = this.#running.get(path) ?? new Map<string, Running>();
    this.#running.set(path, calls);
    const running: Running = {abort, result: undefined, ended: result};
    calls.set(call, running);
    void result.then(message => {
      running.result = message;
      this.#changed(path);
    });
  }

  /** Wait until all calls of this session have ended, at most `ms`. */
  async waitForCalls(path: string, ms: number): Promise<void> {
    const running = [...(this.#running.get(path)?.values() ?? [])].filter(({result}) => !result);
    if (running.length === 0) return;
    let cancel: Cancel | undefined;
    const timeout = new Promise<void>(resolve => {
      cancel = this.#clock.after(ms, resolve, 'held');
    });
    await Promise.race([Promise.all(running.map(({ended}) => ended)), timeout]);
    cancel?.();
  }

  /** Results that are not recorded yet, by call. */
  results(path: string): ReadonlyMap<string, Message> {
    const calls = this.#running.get(path);
    if (!calls) return NONE;
    const found = new Map<string, Message>();
    for (const [call, {result}] of calls) if (result) found.set(call, result);
    return found;
  }

  /** Forget results that are recorded or no longer needed. */
  recorded(path: string, results: Iterable<string>): void {
    const calls = this.#running.get(path);
    for (const call of results) calls?.delete(call);
    if (calls?.size === 0) this.#running.delete(path);
    this.#wake();
  }

  /** Whether an answer or result is not recorded yet. */
  hasNews(path: string): boolean {
    return this.#asked.get(path)?.ended !== undefined || this.results(path).size > 0;
  }

  has(path: string): boolean {
    return this.#asked.has(path) || this.#running.has(path);
  }

  /** How many questions and calls have not ended yet. */
  get underWay(): number {
    const open = [...this.#asked.values(), ...this.#ahead.values()].filter(({ended}) => !ended).length;
    const calls = [...this.#running.values()].flatMap(running => [...running.values()]);
    return open + calls.filter(({result}) => !result).length;
  }

  /** Resolves at the next change. */
  whenChanged(): Promise<void> {
    return new Promise(resolve => this.#waiters.push(resolve));
  }

  /** Abort the running calls of this session, or of all sessions. Their results contain `why`. */
  endCalls(why: string, path?: string): void {
    const all =
      path === undefined ? [...this.#running.values()] : [this.#running.get(path) ?? new Map<string, Running>()];
    for (const calls of all) for (const {abort, result} of calls.values()) if (!result) abort?.abort(new Error(why));
  }

  /** Abort all questions and ask no more. Running calls continue. */
  stop(): void {
    this.#stop.abort();
    for (const [path, {ended}] of [...this.#asked]) if (!ended) this.dropQuestions(path);
    for (const {abort} of this.#ahead.values()) abort.abort();
    this.#ahead.clear();
  }

  #changed(path: string): void {
    this.#onChange(path);
    this.#wake();
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
