import {parseFile} from '../../check/parse-file.ts';
import {APPROVALS_FILE, type ApprovalItem} from '../../files/approval/approval-item.ts';
import type {TaskFile} from '../../files/task/task.ts';
import type {Completed} from '../../reconcile/complete.ts';
import {completeQueue} from '../../reconcile/queue.ts';
import {changeOf} from '../change.ts';
import {timestamp} from '../../store/clock.ts';
import {lookAgain} from '../look-again.ts';
import type {Reconciler} from '../reconciler.ts';
import type {Serving} from '../serving.ts';
import {approvalStateOf, askedFor} from '../turns/budget.ts';
import {wake, wakeInTime} from '../turns/wake.ts';
import {leaveQueue} from './archive.ts';
import {takeDecisions} from './decisions.ts';

const NEW_QUEUE = `# Approvals

What agents ask you to decide. Change \`[_]\` to \`[x]\` to approve, or to \`[-]\` to reject, and save.

## TODO
`;

/** tasks/approvals.task.md: what agents ask persons to decide. */
export function approvalQueue(serving: Serving): Reconciler {
  return {
    kind: 'tasks',
    owns: path => path === APPROVALS_FILE,
    keepsParsed: true,
    settle: async ({parsed}) =>
      parsed?.kind === 'queue' ? changeOf(await settleQueue(serving, parsed.file), 'approval') : undefined,
    async create(path) {
      const parsed = parseFile(path, NEW_QUEUE);
      return parsed?.kind === 'queue' ? changeOf(await settleQueue(serving, parsed.file), 'approval') : undefined;
    },
    indexChanged: () => wake(serving),
    tick() {
      wakeInTime(serving);
      return [];
    },
  };
}

/** The approval queue with what sessions ask for, and with what was decided. */
async function settleQueue(
  serving: Serving,
  file: TaskFile & {items: readonly ApprovalItem[]},
): Promise<Completed | undefined> {
  const {troubles, approvals, waits} = serving;
  troubles.set('ask', undefined);
  // Who waits is looked up last: it may change while git is asked.
  const {name, email} = await serving.journal.person();
  const by = `${name} <${email}>`;
  const now = timestamp(serving.clock);
  const taken = await takeDecisions(serving, file.items, by, now);
  const waiting = (id: string) => waits.for(id).size;
  const outcomeOf = (id: string) => approvals.outcomes.get(id);
  wantOutcomes(serving, file.items);
  const requests = [...approvals.asked.values()].filter(
    ({id}) => waiting(id) > 0 && approvalStateOf(serving, id) === undefined,
  );
  const saidAt = (id: string) => approvals.saidAt.get(id);
  const isGone = (id: string) => goneFor(serving, file.items, id);
  const context = {now, by, asked: askedFor(serving), waiting, requests, taken, outcomeOf, isGone, saidAt};
  const completed = completeQueue(file, context);
  if (!completed) return leaveQueue(serving, file);
  const {decided = []} = completed;
  const written = () => {
    for (const each of decided) serving.report({event: 'decided', ...each});
  };
  return {...completed, written};
}

/** Whether its session has said that it knows nothing of this request, or there is none to ask. */
function goneFor({approvals, index}: Serving, items: readonly ApprovalItem[], id: string): boolean {
  const session = items.find(item => item.id === id)?.session;
  const known = session !== undefined && index.definitionsOf(`session/${session}`).length > 0;
  return !known || approvals.gone.has(id);
}

/** Ask the sessions what became of calls that do not wait any more: after a crash, or if git brought an old queue back. */
function wantOutcomes(serving: Serving, items: readonly ApprovalItem[]): void {
  const {approvals, waits, index} = serving;
  for (const {id, status, outcome, session, call} of items) {
    if (id !== undefined && outcome !== undefined) {
      approvals.outcomes.delete(id);
      approvals.forget(id);
    }
    const open = status === undefined || status === 'pending' || status === 'approved';
    if (id === undefined || !open || outcome !== undefined || session === undefined) continue;
    if (waits.for(id).size > 0) approvals.gone.delete(id);
    if (approvals.outcomes.has(id) || approvals.gone.has(id) || waits.for(id).size > 0) continue;
    const path = index.definitionsOf(`session/${session}`)[0]?.path;
    const wanted = path === undefined ? undefined : (approvals.wanted.get(path) ?? new Map());
    if (path === undefined || wanted === undefined || wanted.has(id)) continue;
    approvals.wanted.set(path, wanted.set(id, call));
    lookAgain(serving, path);
  }
}
