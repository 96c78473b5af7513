import {type Problem, problem} from '../common/diagnostic.ts';
import {makeVisible} from '../common/visible.ts';
import {fieldOf, type Task, type TaskFile} from '../task/task.ts';
import type {NewTask} from '../task/task-text.ts';
import type {ApprovalRisk, ApprovalType} from './approval.ts';
import {GRANT_WORDS, type GrantLine, readGrants, type WrittenGrants} from './approval-grants.ts';
import {type Decision, isYes} from './approval-review.ts';

export const APPROVALS_FILE = 'tasks/approvals.task.md';

/** A request in the queue, as the person left it. */
export interface ApprovalItem {
  task: Task;
  id: string | undefined;
  type: string | undefined;
  agent: string | undefined;
  status: string | undefined;
  decision: Decision | undefined;
  by: string | undefined;
  at: string | undefined;
  reason: string | undefined;
  always: boolean;
  /** The whole command, as it is there now. */
  command: string | undefined;
  session: string | undefined;
  call: string | undefined;
  digest: string | undefined;
  expires: string | undefined;
  /** Answer to a question. */
  answer: string | undefined;
  /** Permissions that the person grants beyond those asked for. */
  grants?: WrittenGrants;
  signature: string | undefined;
  outcome: string | undefined;
}

/** Every task of the queue is a request, decided by its box alone. An unclear box is a problem and runs nothing. */
export function readApprovalItems(file: TaskFile): {items: ApprovalItem[]; problems: Problem[]} {
  const items: ApprovalItem[] = [];
  const problems: Problem[] = [];
  for (const task of file.tasks) {
    const decision = task.state === 'completed' ? 'approved' : task.state === 'skipped' ? 'rejected' : undefined;
    if (task.state === 'in_progress' || task.state === 'blocked') {
      const column = task.boxStart - task.start + 1;
      problems.push(
        problem(
          'UNCLEAR_DECISION',
          {line: task.line, column},
          `expected [_], [x] or [-], got [${task.box}]`,
          'tick [x] to approve or [-] to reject; until then nothing runs',
        ),
      );
    }
    const grants = readGrants(key => fieldOf(task, key));
    items.push({
      task,
      id: fieldOf(task, 'id'),
      type: fieldOf(task, 'approval_type'),
      agent: fieldOf(task, 'agent'),
      status: fieldOf(task, 'status'),
      decision,
      by: fieldOf(task, decision === 'rejected' ? 'rejected_by' : 'approved_by'),
      at: fieldOf(task, decision === 'rejected' ? 'rejected_at' : 'approved_at'),
      reason: fieldOf(task, 'rejection_reason'),
      always: isYes(fieldOf(task, 'always')),
      command: fieldOf(task, 'command'),
      session: fieldOf(task, 'session'),
      call: fieldOf(task, 'call'),
      digest: fieldOf(task, 'digest'),
      expires: fieldOf(task, 'expires'),
      answer: fieldOf(task, 'answer'),
      ...(grants && {grants}),
      signature: fieldOf(task, 'signature'),
      outcome: fieldOf(task, 'outcome'),
    });
  }
  return {items, problems};
}

/**
 * An ambiguous request stops the whole queue: nothing unclear runs. Giving a duplicate a new id would create a request that no
 * call waits for.
 */
export function queueProblems(problems: readonly Problem[]): Problem[] {
  return problems.map(({task: _, ...each}) =>
    each.code === 'DUPLICATE_ID' ? {...each, hint: 'remove the copy'} : each,
  );
}

export interface NewApprovalItem {
  id: string;
  /** Short text: "Approve command: docker ps". */
  title: string;
  type: ApprovalType;
  agent: string;
  created: string;
  risk: ApprovalRisk;
  factors: readonly string[];
  /** The exact command or call, in full. */
  command?: string;
  fields?: Readonly<Record<string, string>>;
  /** Instructions other than the usual. */
  howTo?: readonly string[];
  /** Lines by which the person may grant more. */
  grants?: readonly GrantLine[];
}

/** Without literal boxes, so that a search for a box finds the item's own. */
const HOW_TO = [
  'To approve: put an x in the box above and save (approved_by and approved_at are filled in if missing).',
  'To reject: put a - in the box above and save (add rejection_reason: <reason> to tell the agent why).',
];

/** Create an item for the queue. All text is a quoted line or an indented block, so none of it can be read as a box. */
export function newApprovalItem(item: NewApprovalItem): NewTask {
  const lines = [
    `Approval Request: ${item.type}`,
    `Risk Level: ${item.risk}`,
    ...(item.factors.length > 0 ? ['Risk Factors:', ...item.factors.map(factor => `  - ${oneLine(factor)}`)] : []),
    '',
    ...(item.howTo ?? HOW_TO),
    ...(item.grants ?? []).map(line => `To approve it ${GRANT_WORDS[line]}, also add this line below: ${line}`),
  ];
  return {
    title: oneLine(item.title),
    box: '_',
    priority: 'A',
    names: ['human'],
    tags: ['approval'],
    strict: true,
    fields: {
      id: item.id,
      type: 'approval_request',
      approval_type: item.type,
      agent: item.agent,
      created: item.created,
      risk: item.risk,
      status: 'pending',
      ...(item.command === undefined ? {} : {command: item.command}),
      ...item.fields,
      description: lines.join('\n'),
    },
  };
}

export function oneLine(text: string): string {
  return makeVisible(text)
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
    .join(' ↵ ');
}
