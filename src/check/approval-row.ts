import type {ApprovalItem} from '../formats/approval/approval-item.ts';
import type {Decision} from '../formats/approval/approval-review.ts';
import {fieldOf} from '../formats/task/task.ts';

/** A request in `--json` output. */
export interface ApprovalRow {
  id: string;
  /** pending, approved, rejected, expired, withdrawn or superseded. */
  state: string;
  /** Whether the daemon has recorded the decision. */
  recorded: boolean;
  type: string | null;
  agent: string | null;
  session: string | null;
  tool: string | null;
  risk: string | null;
  title: string;
  /** The command as it runs. `edited`: a person changed it. */
  command: string | null;
  edited: boolean;
  /** `host`: outside the sandbox, where it can do whatever the daemon can. */
  where: string | null;
  /** Why an earlier decision did not count. */
  again: string | null;
  created: string | null;
  expires: string | null;
  /** Sources of untrusted text in the session. */
  taint: string | null;
  by: string | null;
  at: string | null;
  reason: string | null;
  executed_at: string | null;
  outcome: string | null;
  file: string;
  line: number;
}

/** An item with an id, in the queue or its archive. */
export interface Request extends ApprovalItem {
  id: string;
  path: string;
}

/** Whether the daemon has not recorded a decision yet. */
export function isUnrecorded({status = 'pending'}: Request): boolean {
  return status === 'pending';
}

/** `onPage`: the decision on the approval page, if any. */
export function approvalRow(request: Request, onPage: (id: string) => Decision | undefined): ApprovalRow {
  const {id, task, type, agent, decision, by, at, path} = request;
  const recorded = !isUnrecorded(request);
  const field = (key: string) => fieldOf(task, key) ?? null;
  return {
    id,
    state: recorded ? (request.status ?? '') : (decision ?? onPage(id) ?? 'pending'),
    recorded,
    type: type ?? null,
    agent: agent ?? null,
    session: field('session'),
    tool: field('tool'),
    risk: field('risk'),
    title: titleOf(task.title, field('edited') === 'true', field('command')),
    command: field('command'),
    edited: field('edited') === 'true',
    where: field('where'),
    again: field('again'),
    created: field('created'),
    expires: field('expires'),
    taint: field('taint'),
    by: by ?? null,
    at: at ?? null,
    reason: field('rejection_reason'),
    executed_at: field('executed_at'),
    outcome: field('outcome'),
    file: path,
    line: task.line,
  };
}

/** The title with the edited command, if a person edited it. */
export function titleOf(title: string, edited: boolean, command: string | null): string {
  if (!edited) return title;
  const [start] = /^Approve [^:]*: /.exec(title) ?? [];
  return `${start === undefined || command === null ? title : start + command} (edited)`;
}
