import {isApprovalRequired} from '../formats/task/task-approval.ts';
import {agentFault, assigneeFault, isPerson} from './names.ts';
import {assigneeOfRow, isDeliveredRow, type Others, type TaskRow, wordsIn} from './rows.ts';

const MOST_NAMED = 5;

/**
 * Why a pending, blocked or stalled task does not continue, and which approvals a task waits for; else empty. `note`: its last
 * note.
 */
export function whyNot(row: TaskRow, others: Others, note: string | undefined): string {
  if (row.state === 'in_progress' && typeof row.waits_for === 'string')
    return `waits for your approval: ${row.waits_for}`;
  if (row.state === 'in_progress' && typeof row.stalled === 'string') return stalledWords(row);
  if (row.state === 'in_progress' && isBegunElsewhere(row, others))
    return `begun elsewhere: no session of this home works on it; to deliver it: agentdir task reopen ${row.id ?? ''}`;
  if (row.state !== 'pending' && row.state !== 'blocked') return '';
  const waiting = waitsFor(row, others);
  // An unknown dependency is the error.
  const isUnknownTask = (reason: string) => reason.includes('(no such task)');
  const reasons = [
    ...(row.state === 'blocked' ? [blockedWords(row, note)] : []),
    ...(others.broken ? ['its file has errors: agentdir check'] : []),
    ...unknownNames(row, others),
    ...waiting,
    ...(others.wrong.has(row.line) && !waiting.some(isUnknownTask) ? ['has an error: agentdir check'] : []),
    ...(isForNobody(row) ? ['nobody is assigned'] : []),
    ...(needsApproval(row)
      ? [`needs your approval before it starts${typeof row.waits_for === 'string' ? `: ${row.waits_for}` : ''}`]
      : []),
    ...forPerson(row, others),
  ];
  if (row.ready) reasons.unshift(isDeliveredRow(row) ? 'delivered' : 'ready');
  return reasons.join('; ');
}

function stalledWords({session}: TaskRow): string {
  const where = typeof session === 'string' ? ` in ${session}` : '';
  return `stalled: its agent ended its turn${where} without an update, despite a reminder`;
}

/** Another system began it: its agent is one of this home, and has no session for it. */
function isBegunElsewhere(row: TaskRow, {names}: Others): boolean {
  const {name, spawn} = assigneeOfRow(row);
  const isOurs = !spawn && name !== undefined && names.hasAgent(name);
  return isOurs && row.id !== null && row.assigned !== null && typeof row.session !== 'string';
}

function blockedWords({result}: TaskRow, note: string | undefined): string {
  const why = (typeof result === 'string' ? result : undefined) ?? note;
  return why ? `blocked: ${why.length > 120 ? `${why.slice(0, 119)}…` : why}` : 'blocked without a reason';
}

function unknownNames(row: TaskRow, {names}: Others): string[] {
  const {name, spawn} = assigneeOfRow(row);
  if (spawn) return name === undefined || names.hasAgent(name) ? [] : [`there is no template ${name}`];
  const faults = wordsIn(row.assignee).flatMap(each => assigneeFault(each, names)?.message ?? []);
  if (faults.length > 0) return faults;
  const elsewhere =
    name !== undefined && !isPerson(name, names) && agentFault(name, names) === undefined && !names.hasAgent(name);
  return elsewhere ? [`@${name} is not an agent of this home, so it is not delivered`] : [];
}

/** Each dependency that is not completed, with its state. */
function waitsFor(row: TaskRow, {stateOf}: Others): string[] {
  const open = wordsIn(row.blocked_by).map(id => {
    const state = stateOf(id);
    if (state === 'skipped') return `${id} (skipped, so forever)`;
    return state === undefined ? `${id} (no such task)` : `${id} (${state?.replace('_', ' ')})`;
  });
  if (open.length === 0) return [];
  const more = open.length > MOST_NAMED ? `, and ${open.length - MOST_NAMED} more` : '';
  return [`waits for ${open.slice(0, MOST_NAMED).join(', ')}${more}`];
}

export function isForNobody(row: TaskRow): boolean {
  const {name, spawn} = assigneeOfRow(row);
  return name === undefined && !spawn;
}

/** Whether the task needs an approval before its delivery. */
function needsApproval(row: TaskRow): boolean {
  return isApprovalRequired(row.approval_required) && !isDeliveredRow(row);
}

/** Whom the task waits for, if the first assignee is a person. */
function forPerson(row: TaskRow, {names}: Others): string[] {
  const {name, spawn} = assigneeOfRow(row);
  if (name === undefined || spawn || !isPerson(name, names)) return [];
  return [name === 'human' ? 'waits for you' : `waits for @${name}`];
}
