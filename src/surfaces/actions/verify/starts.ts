import type {WalkedCommit} from '../../../home/journal-walk.ts';
import type {Decisions} from './decisions.ts';
import type {CallSummary, Execution} from './executions.ts';
import type {AuditFinding, Objection} from './finding.ts';
import {emptyState, findItem, type HomeState} from './home-state.ts';
import {type CallEvidence, objectionTo} from './objection-to.ts';
import {type TakenAway, withItem} from './taken-away.ts';

/** A started call; `before`: the state of the parents. */
interface Start {
  commit: WalkedCommit;
  execution: Execution;
  before: readonly HomeState[];
}

/** A start that looks unauthorised so far. */
type Doubtful = Omit<Start, 'before'> & {objection: Objection};

type Signers = (commit: WalkedCommit, setting: string) => ReturnType<CallEvidence['signers']>;

/** Judges starts, at once or after later commits. */
export class Starts {
  readonly #decisions: Decisions;
  readonly #signers: Signers;
  readonly #found: (finding: AuditFinding) => void;
  readonly #used = new Map<string, string>();
  /** Recovered after a crash; their decision may follow. */
  #doubtful: Doubtful[] = [];
  /** A stale save may have removed their approval. */
  #waiting: (Doubtful & {taken: TakenAway})[] = [];
  count = 0;
  recovered = 0;

  constructor(decisions: Decisions, signers: Signers, found: (finding: AuditFinding) => void) {
    this.#decisions = decisions;
    this.#signers = signers;
    this.#found = found;
  }

  async add({commit, execution, before}: Start): Promise<void> {
    this.count++;
    let objection: Objection | undefined;
    for (const state of before.length > 0 ? before : [emptyState()]) {
      const here = await this.#objection(execution, commit, state);
      if (!here) return this.#use(execution);
      objection ??= here;
    }
    if (!objection) return;
    const {approval = ''} = execution.call;
    const taken = objection.kind === 'undecided' ? this.#decisions.taken.get(approval) : undefined;
    const wouldBe = async (state: HomeState) =>
      taken && !(await this.#objection(execution, commit, withItem(state, approval, taken), {taken}));
    for (const state of before)
      if (taken && (await wouldBe(state))) {
        this.#waiting.push({execution, commit, objection, taken});
        return this.#use(execution);
      }
    this.#doubt({execution, commit, objection});
  }

  /** After a crash, files are committed in any order; a decision counts if its time is earlier. */
  async resolve(state: HomeState): Promise<void> {
    const doubtful = this.#doubtful;
    this.#doubtful = [];
    for (const each of doubtful) {
      const {execution, commit} = each;
      const {approval = '', started = ''} = execution.call;
      const at = findItem(state, approval)?.at ?? '';
      const inTime = Date.parse(at) <= Date.parse(started);
      const against = (id: string) => this.#decisions.againstBefore(id);
      if (!inTime || (await this.#objection(execution, commit, state, {against}))) this.#refute(each);
      else {
        this.recovered++;
        this.#use(execution);
      }
    }
    this.#decisions.allFound();
  }

  /** Judges starts whose approval is now known. `end`: no more commits. */
  putBack(end = false): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({taken}) => taken.back === undefined && !end);
    for (const {taken, ...doubtful} of waiting) {
      if (taken.back || (taken.back === undefined && !end)) continue;
      const {session, call} = doubtful.execution;
      if (this.#used.get(call.approval ?? '') === `${call.id} of ${session}`) this.#used.delete(call.approval ?? '');
      this.#doubt(doubtful);
    }
  }

  #doubt(doubtful: Doubtful): void {
    if (doubtful.commit.cause === 'recovered') this.#doubtful.push(doubtful);
    else this.#refute(doubtful);
  }

  /** `taken`: judge as if that approval were still there. */
  #objection(
    execution: Execution,
    commit: WalkedCommit,
    state: HomeState,
    {
      taken,
      against = id => this.#decisions.objectionOf(id),
    }: {taken?: TakenAway; against?: Decisions['objectionOf']} = {},
  ): Promise<Objection | undefined> {
    const decisions = {approvalOf: (id: string) => this.#decisions.approvalOf(id) ?? taken?.said, objectionOf: against};
    const signers = (setting: string) => this.#signers(commit, setting);
    return objectionTo(execution, state, {decisions, used: this.#used, signers});
  }

  #refute({commit, execution, objection}: Doubtful): void {
    const {id, approval, function: called} = execution.call;
    const call = {id, tool: called.name, ...(approval !== undefined && {approval})};
    this.#found(findingOf(commit, execution.session, call, objection));
    this.#use(execution);
  }

  #use({session, call}: Execution): void {
    if (call.approval !== undefined && !this.#used.has(call.approval))
      this.#used.set(call.approval, `${call.id} of ${session}`);
  }
}

export function findingOf(
  commit: WalkedCommit,
  session: string,
  called: CallSummary,
  objection: Objection,
): AuditFinding {
  const {id: call, ...rest} = called;
  return {...objection, commit: commit.id, time: commit.time, session, call, ...rest};
}
