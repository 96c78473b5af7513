import {stemOf} from '../../../formats/common/key.ts';
import type {AuditFinding} from './finding.ts';
import {findItem, findPage, type HomeState, type PastItem} from './home-state.ts';
import {TakenAways} from './taken-away.ts';
import type {DecisionCommit, GivenApproval} from './writing.ts';

/** All decisions so far: who approved first, and every rejection. */
export class Decisions {
  readonly #items = new Map<string, GivenApproval>();
  readonly #pages = new Map<string, GivenApproval>();
  readonly #against = new Map<string, string>();
  /** Rejections found after a crash, whose order is unknown. */
  readonly #foundNow = new Set<string>();
  readonly #seen = new Set<string>();
  readonly taken = new TakenAways();

  get count(): number {
    return this.#seen.size;
  }

  get ids(): Iterable<string> {
    return this.#seen;
  }

  /** The valid approval of a request. */
  approvalOf(id: string): GivenApproval | undefined {
    return this.#items.get(id) ?? this.#pages.get(id);
  }

  /** `rejected`, `expired` or `superseded`, if any version said so. */
  objectionOf(id: string): string | undefined {
    return this.#against.get(id);
  }

  againstBefore(id: string): string | undefined {
    return this.#foundNow.has(id) ? undefined : this.#against.get(id);
  }

  /** Called after the last recovered commit. */
  allFound(): void {
    this.#foundNow.clear();
  }

  /** Records the decisions of a commit. Returns findings for decisions by agents. */
  read(
    paths: readonly string[],
    before: readonly HomeState[],
    after: HomeState,
    writing: DecisionCommit,
  ): AuditFinding[] {
    const findings: AuditFinding[] = [];
    for (const path of paths) {
      const items = after.queues.get(path);
      const former = before[0]?.queues.get(path);
      const back = this.taken.next(path, after, writing);
      for (const id of new Set([...(items?.keys() ?? []), ...(former?.keys() ?? [])])) {
        const [is, was] = [items?.get(id), former?.get(id)];
        if (is?.decision === was?.decision && is?.status === was?.status) continue;
        // The item may have moved to the archive.
        const item = findItem(after, id);
        if (writing.writer === 'person' && item?.decision === undefined)
          this.taken.add(id, path, was, this.#items.get(id));
        findings.push(...this.#item(id, before, item, writing));
      }
      for (const [id, said] of back) if (said) this.#items.set(id, said);
    }
    for (const id of new Set(paths.filter(path => path.startsWith('approvals/')).map(stemOf)))
      findings.push(...this.#page(id, before, after, writing));
    return findings;
  }

  #item(id: string, before: readonly HomeState[], item: PastItem | undefined, writing: DecisionCommit): AuditFinding[] {
    const {decision, status} = item ?? {};
    if (decision !== undefined) this.#seen.add(id);
    // Withdrawn requests were not rejected.
    if (decision === 'rejected' && status !== 'withdrawn')
      this.#isAgainst(id, status === 'expired' || status === 'superseded' ? status : 'rejected', writing);
    const was = before.some(state => findItem(state, id)?.decision === 'approved');
    return turn(this.#items, id, was, item && decision === 'approved', writing);
  }

  #page(id: string, before: readonly HomeState[], after: HomeState, writing: DecisionCommit): AuditFinding[] {
    const page = findPage(after, id);
    const {decision} = page ?? {};
    if (decision === 'rejected' && !this.#against.has(id)) this.#isAgainst(id, 'rejected', writing);
    const was = before.some(state => findPage(state, id)?.decision === 'approved');
    return turn(this.#pages, id, was, page && decision === 'approved', writing);
  }

  #isAgainst(id: string, how: string, {cause}: DecisionCommit): void {
    if (cause === 'recovered' && !this.#against.has(id)) this.#foundNow.add(id);
    this.#against.set(id, how);
  }

  /** Shallow clone: existing decisions count. */
  begin(state: HomeState, commit: string, time: string): void {
    for (const items of state.queues.values())
      for (const [id, {decision}] of items) if (decision === 'approved') this.#items.set(id, {commit, time});
  }
}

/**
 * Only the commit that changes the decision to approved has its author. An item that is missing may be moving to
 * another file.
 */
function turn(
  said: Map<string, GivenApproval>,
  id: string,
  was: boolean,
  is: boolean | undefined,
  {commit, time, writer}: DecisionCommit,
): AuditFinding[] {
  if (is === undefined || is === was) return [];
  if (!is || writer === 'agent') said.delete(id);
  if (is && writer === 'person') said.set(id, {commit, time});
  if (!is || writer !== 'agent') return [];
  return [{kind: 'agent-decided', what: `an agent wrote the decision about ${id}`, commit, time, approval: id}];
}
