import {parseFile} from '../../check/parse-file.ts';
import type {CompletedFile} from '../../decide/complete.ts';
import {completeQueue} from '../../decide/queue.ts';
import {APPROVALS_FILE, type ApprovalItem} from '../../formats/approval/approval-item.ts';
import type {TaskFile} from '../../formats/task/task.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {approvalStateOf, budgetRequests} from '../sessions/budget.ts';
import {wakeOnTimer, wakeSessions} from '../sessions/wake.ts';
import {plannedWriteOf} from '../state/completed-write.ts';
import type {With} from '../state/parts.ts';
import {archiveDecided} from './archive.ts';
import {collectDecisions} from './decisions.ts';

const NEW_QUEUE = `# Approvals

Requests that wait for your decision. Change \`[_]\` to \`[x]\` to approve, or to \`[-]\` to reject, and save.

## TODO
`;

/** tasks/approvals.task.md: the approval queue. */
export function approvalQueueReconciler(
  daemon: With<'files' | 'reports' | 'current' | 'approvals' | 'spend' | 'effects'>,
): Reconciler {
  return {
    kind: 'tasks',
    owns: path => path === APPROVALS_FILE,
    keepsParsed: true,
    settle: async ({parsed}) =>
      parsed?.kind === 'queue' ? plannedWriteOf(await settleQueue(daemon, parsed.file), 'approval') : undefined,
    async create(path) {
      const parsed = parseFile(path, NEW_QUEUE);
      return parsed?.kind === 'queue' ? plannedWriteOf(await settleQueue(daemon, parsed.file), 'approval') : undefined;
    },
    indexChanged: () => wakeSessions(daemon),
    tick() {
      wakeOnTimer(daemon);
      return [];
    },
  };
}

/** Add new requests, decisions and outcomes to the approval queue. */
async function settleQueue(
  daemon: With<'files' | 'reports' | 'current' | 'approvals' | 'spend' | 'effects'>,
  file: TaskFile & {items: readonly ApprovalItem[]},
): Promise<CompletedFile | undefined> {
  const {files, reports, approvals} = daemon;
  const {troubles} = reports;
  const {waits} = approvals;
  troubles.set('ask', undefined);
  // Look up waiting sessions last: they may change while git runs.
  const {name, email} = await files.journal.person();
  const by = `${name} <${email}>`;
  const now = timestamp(files.disk.clock);
  const taken = await collectDecisions(daemon, file.items, by, now);
  const waiting = (id: string) => waits.for(id).size;
  const outcomeOf = (id: string) => approvals.outcomes.get(id);
  wantOutcomes(daemon, file.items);
  const requests = [...approvals.asked.values()].filter(
    ({id}) => waiting(id) > 0 && approvalStateOf(files, id) === undefined,
  );
  const saidAt = (id: string) => approvals.yesSavedAt.get(id);
  const isGone = (id: string) => goneFor(daemon, file.items, id);
  const againOf = (id: string) => approvals.again.get(id);
  const asked = budgetRequests(daemon);
  const context = {now, by, asked, waiting, requests, taken, outcomeOf, isGone, saidAt, againOf};
  const completed = completeQueue(file, context);
  if (!completed) return archiveDecided(daemon, file);
  const {decided = []} = completed;
  const written = () => {
    for (const each of decided) reports.report({event: 'decided', ...each});
    for (const id of completed.approvals ?? []) approvals.again.delete(id);
  };
  // The record of a decision begins a step, which the start of the call joins.
  return {...completed, written, ...(decided.length === 0 && {joins: 'step' as const})};
}

/** Whether the session of the request is gone or does not know the request. */
function goneFor({approvals, files}: With<'files' | 'approvals'>, items: readonly ApprovalItem[], id: string): boolean {
  const {index} = files;
  const session = items.find(item => item.id === id)?.session;
  const known = session !== undefined && index.definitionsOf(`session/${session}`).length > 0;
  return !known || approvals.unknownRequests.has(id);
}

/** Ask sessions for the outcomes of calls that no longer wait, after a crash or after git restored an old queue. */
function wantOutcomes({files, approvals}: With<'files' | 'approvals'>, items: readonly ApprovalItem[]): void {
  const {waits} = approvals;
  const {index} = files;
  for (const {id, status, outcome, session, call} of items) {
    if (id !== undefined && outcome !== undefined) {
      approvals.outcomes.delete(id);
      approvals.forget(id);
    }
    const open = status === undefined || status === 'pending' || status === 'approved';
    if (id === undefined || !open || outcome !== undefined || session === undefined) continue;
    if (waits.for(id).size > 0) approvals.unknownRequests.delete(id);
    if (approvals.outcomes.has(id) || approvals.unknownRequests.has(id) || waits.for(id).size > 0) continue;
    const path = index.definitionsOf(`session/${session}`)[0]?.path;
    const wanted = path === undefined ? undefined : (approvals.missingOutcomes.get(path) ?? new Map());
    if (path === undefined || wanted === undefined || wanted.has(id)) continue;
    approvals.missingOutcomes.set(path, wanted.set(id, call));
    lookAgain(files, path);
  }
}
