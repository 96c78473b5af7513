import {assigneeOfRow, isDeliveredRow, type Others, type TaskRow} from '../../../check/rows.ts';
import {isForNobody, whyNot} from '../../../check/why-not.ts';
import {isApprovalRequired} from '../../../formats/task/task-approval.ts';
import type {TaskRows} from './task-rows.ts';

/** Describes what happens next to a task. */
export function nextSteps(row: TaskRow, {rows, othersOf}: TaskRows): string[] {
  const others = othersOf(row);
  if (others.broken) return [`${row.file} has errors, so its tasks are not processed: agentdir check`];
  if (others.wrong.has(row.line)) return [`${nameOf(row)} has an error: agentdir check`];
  if (row.state === 'pending') return [pending(row, others)];
  const waiting =
    row.id === null ? [] : rows.filter(other => other.state === 'pending' && dependsOnTask(other, row.id));
  const ids = waiting.map(({id, title}) => id ?? `"${title}"`).join(', ');
  switch (row.state) {
    case 'in_progress':
      return row.assignee === null || row.assigned ? [] : ['it is not delivered while it is in progress'];
    case 'completed':
      return [
        ...waiting.filter(other => other.ready && !isDeliveredRow(other)).map(other => delivery(other, nameOf(other))),
        ...(isAgentName(row.created_by) ? [`${row.created_by} is informed`] : []),
      ];
    case 'blocked':
      return ids === '' ? [] : [`${ids} ${waiting.length === 1 ? 'waits' : 'wait'} for it`];
    case 'skipped':
      return ids === '' ? [] : [`${ids} would wait forever: remove it from their depends_on`];
  }
}

function pending(row: TaskRow, others: Others): string {
  if (isForNobody(row)) return `it has no assignee: agentdir task assign ${nameOf(row)} AGENT`;
  if (row.ready) return isDeliveredRow(row) ? `${receiver(row)} has it` : delivery(row, 'it');
  const why = whyNot(row, others, undefined);
  return /^(?:waits|needs) /.test(why) ? `it ${why}` : why;
}

function delivery(row: TaskRow, what: string): string {
  if (isApprovalRequired(row.approval_required))
    return `the daemon asks you before it delivers ${what} to ${receiver(row)}`;
  return `the daemon delivers ${what} to ${receiver(row)}`;
}

function receiver(row: TaskRow): string {
  const {name, model, spawn} = assigneeOfRow(row);
  return `${spawn ? 'a new ' : ''}${name ?? model ?? 'nobody'}`;
}

export function dependsOnTask(row: TaskRow, id: string | null): boolean {
  return id !== null && (row.depends_on ?? '').split(' ').includes(id);
}

function nameOf({id, title}: TaskRow): string {
  return id ?? `"${title}"`;
}

function isAgentName(name: string | null): name is string {
  return name !== null && name !== '' && name !== 'human';
}
