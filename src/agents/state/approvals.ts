import type {CallRequest} from '../../decide/call-request.ts';
import type {CallOutcome} from '../../decide/queue.ts';
import type {NewRule} from '../../formats/rule.ts';
import type {Clock} from '../../home/disk/clock.ts';
import type {Random} from '../../home/disk/random.ts';
import type {StartedCalls} from '../../loop/started-calls.ts';
import type {Waits} from './waits.ts';

/** How many requests are kept in memory. Others are made again when they are needed. */
const MAX_REQUESTS = 1_000;
/** So long after a yes its call may begin. */
const STARTING_MS = 100;

/** What is known of requests besides what the files say; all of it follows from the sessions again. */
export class Approvals {
  /** Which sessions wait for which request. */
  readonly waits: Waits;
  /** Calls that were started once, whatever the files say by now. */
  readonly started: StartedCalls;
  /** What calls ask for, in words, by id. */
  readonly #asked = new Map<string, CallRequest>();
  /** What became of calls that were approved, until it stands in the queue. */
  readonly outcomes = new Map<string, CallOutcome>();
  /** By session path: approvals whose outcome the queue lacks, with their calls. */
  readonly missingOutcomes = new Map<string, Map<string, string | undefined>>();
  /** Requests that their sessions do not have. */
  readonly unknownRequests = new Set<string>();
  /** Sessions, by path, whose requests may be outdated. */
  readonly staleSessions = new Set<string>();

  /** Files that requests would write, as they were when the diff was made, by the id of the request. */
  readonly targets = new Map<string, string>();

  /** When an approval without a time was saved, by id. */
  readonly yesSavedAt = new Map<string, string>();

  /** Requests whose decision does not count, which was reported. */
  readonly reportedInvalid = new Set<string>();
  /** Rules that persons want added to the policy, and why some could not be, by the id of the approval. */
  readonly rules = new Map<string, readonly NewRule[]>();
  readonly rulesRefused = new Map<string, string>();

  /** Decided requests that are to go to the archive, as they stand in the queue: by file, by id. */
  readonly archive = new Map<string, ReadonlyMap<string, string>>();
  /** Files that may have been changed by a command that ran outside the sandbox, and by which, by path. */
  readonly suspects = new Map<string, string>();
  /** Files in which a person decides that were changed while no daemon ran: what they were before, by path. */
  readonly changedBefore = new Map<string, string | undefined>();
  readonly #unconfined = new Set<{words: string}>();
  readonly #clock: Clock;
  #yesAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, waits: Waits, started: StartedCalls) {
    this.waits = waits;
    this.started = started;
    this.#clock = clock;
  }

  /** A command runs that could write files of the home: what is decided meanwhile does not count. */
  runsUnconfined(words: string): () => void {
    const running = {words};
    this.#unconfined.add(running);
    return () => this.#unconfined.delete(running);
  }

  /** Which such command runs, in words. */
  get unconfined(): string | undefined {
    const [first] = this.#unconfined;
    return first?.words;
  }

  /** A yes was found just now: what it allows is about to begin. */
  get starting(): boolean {
    return this.#clock.monotonic() - this.#yesAt < STARTING_MS;
  }

  /** A person approved something just now. */
  noteYes(): void {
    this.#yesAt = this.#clock.monotonic();
  }

  get asked(): ReadonlyMap<string, CallRequest> {
    return this.#asked;
  }

  ask(request: CallRequest): void {
    // Said again, it is what it was, in its place.
    if (this.#asked.get(request.id)?.digest === request.digest) return;
    this.#asked.delete(request.id);
    this.#asked.set(request.id, request);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > MAX_REQUESTS && oldest !== undefined) this.forget(oldest);
  }

  forget(id: string): void {
    this.#asked.delete(id);
    this.targets.delete(id);
  }
}

/** Some 60 random bits, in letters and digits that are hard to misread; never like a number. */
export function newApprovalId(random: Random): string {
  const letters = 'abcdefghjkmnpqrstvwxyz0123456789';
  return [...random.bytes(12)].map((byte, i) => letters[byte % (i === 0 ? 22 : 32)]).join('');
}
