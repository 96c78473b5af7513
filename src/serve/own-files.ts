import {isDeepStrictEqual} from 'node:util';
import {parseFile} from '../check/parse-file.ts';
import {APPROVALS_FILE, type ApprovalItem} from '../files/approval/approval-item.ts';
import {SLOTS_FILE} from '../files/key.ts';
import {type DaySpend, type SpendFile, spendText} from '../files/spend-file.ts';
import {SPEND_FILE} from '../files/spent.ts';
import type {TaskFile} from '../files/task/task.ts';
import {parseTasks} from '../files/task/task-parse.ts';
import type {Outcome} from '../queue.ts';
import type {Completed} from '../reconcile/complete.ts';
import {completeQueue} from '../reconcile/queue.ts';
import {timestamp} from '../store/clock.ts';
import {MARKER} from '../store/locate.ts';
import {pendingId} from './approvals/approvals.ts';
import {leaveQueue, settleArchive} from './approvals/archive.ts';
import {takeDecisions} from './approvals/decisions.ts';
import {POLICY_FILE} from './approvals/new-rules.ts';
import {makePage} from './approvals/pages.ts';
import {settleMemory} from './calls/remember.ts';
import {settleSlots} from './inbox/due-slots.ts';
import {isCursorWanted, settleCursor} from './inbox/inbox-cursor.ts';
import {lookAgain} from './look-again.ts';
import {makeMailed} from './mail/deliver-step.ts';
import {isIgnored, type OwnEntry} from './record.ts';
import type {Serving} from './serving.ts';
import {take} from './state.ts';
import {settleEdits} from './tasks/task-edits.ts';
import {approvalStateOf, askedFor} from './turns/budget.ts';
import {createText} from './write.ts';

const WAIT_MS = 500;

const NEW_QUEUE = `# Approvals

What agents ask you to decide. Change \`[_]\` to \`[x]\` to approve, or to \`[-]\` to reject, and save.

## TODO
`;

/** The approval queue with what sessions ask for, and with what was decided. */
export async function settleQueue(
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

/** What was used today, if that is not what the file says. */
export function settleSpend({spend}: Serving, file: SpendFile | undefined): Completed | undefined {
  const value = spend.value();
  if (!value || isDeepStrictEqual(value, file?.value && ours(file.value))) return undefined;
  const {turns, input_tokens, output_tokens, cost_usd} = spend.all;
  const tokens = (input_tokens + output_tokens).toLocaleString('en-US');
  return {
    text: spendText(value),
    words: `${value.day}: ${turns.toLocaleString('en-US')} ${turns === 1 ? 'turn' : 'turns'}, ${tokens} tokens, $${cost_usd.toFixed(2)}`,
    tasks: [],
  };
}

/** Without keys that are not ours. */
function ours({day, agents}: DaySpend): DaySpend {
  const own = Object.entries(agents).map(([name, {turns, input_tokens, output_tokens, cost_usd}]) => [
    name,
    {turns, input_tokens, output_tokens, cost_usd},
  ]);
  return {day, agents: Object.fromEntries(own)};
}

/** A file that the daemon needs and that is not there: make it, if there is something to write into it. */
export async function makeOwn(serving: Serving, path: string): Promise<Outcome> {
  if (pendingId(path) !== undefined) return makePage(serving, path);
  const isWanted = [APPROVALS_FILE, SPEND_FILE, SLOTS_FILE].includes(path) || serving.approvals.archive.has(path);
  const isRead = isCursorWanted(serving, path);
  const isDue = serving.notes.get(path)?.length || serving.edits.has(path) || serving.mail.has(path) || isRead;
  if (!isWanted && !isDue) return undefined;
  serving.nudged.delete(path);
  // Nothing is put where a home was unmounted or moved away.
  if (serving.loading || !serving.disk.exists(MARKER)) return undefined;
  if (serving.mail.has(path)) return serving.journal.unfinished() ? {after: WAIT_MS} : makeMailed(serving, path);
  const parsed = parseFile(path, NEW_QUEUE);
  const completed =
    path === SPEND_FILE
      ? settleSpend(serving, undefined)
      : path === SLOTS_FILE
        ? await settleSlots(serving, undefined)
        : path === APPROVALS_FILE && parsed?.kind === 'queue'
          ? await settleQueue(serving, parsed.file)
          : (settleCursor(serving, path, undefined) ??
            settleArchive(serving, path, undefined) ??
            settleEdits(serving, path, parseTasks('')) ??
            settleMemory(serving, path, ''));
  if (!completed) return undefined;
  if (serving.journal.unfinished()) return {after: WAIT_MS};
  const written = await createText(serving, path, completed.text, entryOf(path, completed));
  if ('outcome' in written) return written.outcome;
  take(serving, written.seen);
  await isIgnored(serving, path);
  completed.written?.();
  return undefined;
}

/** What the journal says of such a file. */
export function entryOf(path: string, {words, tasks, approvals = [], agent}: Completed): OwnEntry {
  const trailers = approvals.slice(0, 10).map((id): [string, string] => ['Approval', id]);
  return {words, tasks, cause: causeOf(path), trailers, ...(agent !== undefined && {agent})};
}

function causeOf(path: string): string {
  if (path === SPEND_FILE) return 'spend';
  if (path === SLOTS_FILE) return 'schedule';
  if (path === POLICY_FILE) return 'always';
  if (path.startsWith('state/inbox/')) return 'inbox';
  if (path.startsWith('memory/')) return 'remember';
  return path === APPROVALS_FILE || path.startsWith('tasks/archive/') ? 'approval' : 'fill-in';
}
