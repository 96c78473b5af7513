import type {CallRequest} from '../../decide/call-request.ts';
import type {CallOutcome} from '../../decide/queue.ts';
import type {NewRule} from '../../formats/rule.ts';
import type {Clock} from '../../home/disk/clock.ts';
import type {Random} from '../../home/disk/random.ts';
import type {StartedCalls} from '../../loop/started-calls.ts';
import type {Waits} from './waits.ts';
import {WorkspaceStates} from './workspace-states.ts';

/** How many requests stay in memory. Others are created again on demand. */
const MAX_REQUESTS = 1_000;
/** How long after a request or an approval more of its step is expected: the item and its page, or the start of the call. */
const STEP_MS = 200;

/** State of requests that no file holds. Can be rebuilt from the sessions. */
export class Approvals {
  readonly waits: Waits;
  /** Calls that were started once, even if the files no longer show it. */
  readonly started: StartedCalls;
  /** Requests of calls, by id. */
  readonly #asked = new Map<string, CallRequest>();
  /** Outcomes of approved calls that are not in the queue yet, by id. */
  readonly outcomes = new Map<string, CallOutcome>();
  /** Approvals whose outcome the queue lacks, with their calls, by session path. */
  readonly missingOutcomes = new Map<string, Map<string, string | undefined>>();
  /** Requests in the queue that their sessions do not know. */
  readonly unknownRequests = new Set<string>();
  /** Sessions, by path, whose requests may be outdated. */
  readonly staleSessions = new Set<string>();

  /** Ids of new requests that their sessions and task files do not have yet, by call or task: a failed write makes a new id. */
  readonly promised = new Map<string, string>();
  /** Task files whose tasks cannot be asked about now, because too many requests are open. */
  readonly heldTaskFiles = new Set<string>();

  /** Why a decision on the page of a request did not count, until the queue says so, by request id. */
  readonly again = new Map<string, string>();

  /** Signatures of the files that requests would write, taken when the diff was made, by request id. */
  readonly targets = new Map<string, string>();

  /** When an approval without a time was saved, by id. */
  readonly yesSavedAt = new Map<string, string>();

  /** Requests whose decision was reported as invalid. */
  readonly reportedInvalid = new Set<string>();
  /** Rules to add to the policy, and why some could not be added, by approval id. */
  readonly rules = new Map<string, readonly NewRule[]>();
  readonly rulesRefused = new Map<string, string>();

  /** Texts of decided requests to archive, by archive file and id. */
  readonly archive = new Map<string, ReadonlyMap<string, string>>();
  /** Protected files that an unsandboxed command may have changed, with that command, by path. */
  readonly suspects = new Map<string, string>();
  /** Protected files that changed while no daemon ran, with the former blob, by path. */
  readonly changedBefore = new Map<string, string | undefined>();
  /** Digests of workspaces, and the changes that approved calls made. */
  readonly workspaceStates: WorkspaceStates;
  /** Commands that run outside the sandbox, in words, by the name of the call. */
  readonly #unconfined = new Map<string, string>();
  readonly #clock: Clock;
  #stepAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, waits: Waits, started: StartedCalls) {
    this.waits = waits;
    this.started = started;
    this.#clock = clock;
    this.workspaceStates = new WorkspaceStates(clock);
  }

  /** An unsandboxed command begins. Until `endUnconfined`, decisions do not count. */
  beginUnconfined(call: string, words: string): void {
    this.#unconfined.set(call, words);
  }

  /** The command in words, unless it has ended before. */
  endUnconfined(call: string): string | undefined {
    const words = this.#unconfined.get(call);
    this.#unconfined.delete(call);
    return words;
  }

  /** The unsandboxed command that is running, if any. */
  get unconfined(): string | undefined {
    const [first] = this.#unconfined.values();
    return first;
  }

  /** Whether a call asked or was approved moments ago, or ended, and the files that follow are about to be written. */
  get isStepOpen(): boolean {
    return this.outcomes.size > 0 || this.#clock.monotonic() - this.#stepAt < STEP_MS;
  }

  /** A call asks, or a person approved it, just now. */
  noteStep(): void {
    this.#stepAt = this.#clock.monotonic();
  }

  get asked(): ReadonlyMap<string, CallRequest> {
    return this.#asked;
  }

  ask(request: CallRequest): void {
    // An unchanged request keeps its place.
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
