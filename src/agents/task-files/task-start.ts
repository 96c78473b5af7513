import {type Assignment, assignmentOf} from '../../decide/assignment.ts';
import type {CallRequest} from '../../decide/call-request.ts';
import {unlistedModelOf} from '../../decide/task-gate.ts';
import {callDigest} from '../../formats/approval/approval-digest.ts';
import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import {durationMs} from '../../formats/common/values.ts';
import {fieldOf, type Task} from '../../formats/task/task.ts';
import {assigneeOf} from '../../formats/task/task-assignee.ts';
import {lookAgain} from '../../loop/look-again.ts';
import {queueItem} from '../approvals/decisions.ts';
import {signatureProblem} from '../approvals/signatures.ts';
import {EXPIRE_AFTER} from '../calls/next-call.ts';
import {approvalStateOf, requestLimitFor} from '../sessions/budget.ts';
import {registerRequest} from '../sessions/wake.ts';
import {newApprovalId} from '../state/approvals.ts';
import type {With} from '../state/parts.ts';
import {deliverTask} from '../tasks/deliver-task.ts';
import {gateContext} from '../tasks/gate-context.ts';

/**
 * Ask a person to approve the start of a task with `approval_required`. `approval: ID` in the task is the only durable
 * mark that it waits. The decision is bound to the content of the task.
 */
export async function askToStart(
  daemon: With<'files' | 'reports' | 'current' | 'mail' | 'approvals' | 'tasks' | 'spend' | 'effects'>,
  path: string,
  task: Task,
  key: string,
): Promise<void> {
  const {files, approvals, tasks} = daemon;
  const id = fieldOf(task, 'approval');
  const assignment = assignmentOf(task, path);
  const digest = digestFor(task, assignment, key, path);
  const askAgain = () => {
    const approval = newApprovalId(daemon.effects.world.random);
    approvals.promised.set(key, approval);
    tasks.addNews(key, {approval});
    lookAgain(files, path);
  };
  if (id === undefined) {
    if (tasks.get(key)?.approval !== undefined) return;
    if (requestLimitFor(daemon, path, '')) approvals.heldTaskFiles.add(path);
    else askAgain();
    return;
  }
  switch (approvalStateOf(files, id)) {
    case 'approved': {
      const item = await queueItem(files, APPROVALS_FILE, id);
      const isOwn = item?.digest === digest && item.outcome === undefined;
      const unsigned =
        item && isOwn ? await signatureProblem(daemon, {item, digest, edited: undefined, grants: {}}) : undefined;
      daemon.reports.troubles.set(`approval ${id}`, unsigned && `approval ${id}: ${unsigned}`);
      if (unsigned !== undefined) return;
      if (isOwn) return deliverTask(daemon, path, task, key);
      approvals.outcomes.set(id, {
        status: 'superseded',
        outcome: 'not started: the task has changed since it was asked',
      });
      return askAgain();
    }
    case 'rejected': {
      const reason = (await queueItem(files, APPROVALS_FILE, id))?.reason;
      tasks.addNews(key, {refused: {state: 'skipped', why: `not started: rejected${reason ? `: ${reason}` : ''}`}});
      return lookAgain(files, path);
    }
    case 'expired':
      tasks.addNews(key, {refused: {state: 'blocked', why: 'not started: nobody approved it in time'}});
      return lookAgain(files, path);
    case 'superseded':
      return askAgain();
    default: {
      const item = await queueItem(files, APPROVALS_FILE, id);
      if (item?.digest !== undefined && item.digest !== digest) {
        approvals.outcomes.set(id, {status: 'superseded', outcome: 'the task has changed since it was asked'});
        return askAgain();
      }
      registerRequest(daemon, await requestFor(daemon, path, task, assignment, {id, digest}));
    }
  }
}

/** Covers everything that is delivered of the task, and the assignee. */
function digestFor(task: Task, assignment: Assignment, key: string, path: string): string {
  const {names} = task;
  const assign = fieldOf(task, 'assign') ?? null;
  return callDigest({
    tool: 'start_task',
    arguments: JSON.stringify({names, assign, ...assignment}),
    cwd: path,
    agent: names[0] ?? assign ?? '',
    session: '',
    call: key,
    basis: {},
  });
}

async function requestFor(
  {files, current}: With<'files' | 'current'>,
  path: string,
  task: Task,
  {said, taint}: Assignment,
  {id, digest}: {id: string; digest: string},
): Promise<CallRequest> {
  const settings = await current.settings();
  const after = settings.approvals?.expire_after;
  const chosen = unlistedModelOf(task, settings, gateContext(files));
  const {name, model} = assigneeOf(task);
  const agent = name ?? model ?? '';
  const factors = [
    ...(taint.length > 0 ? ['words from outside led to it'] : []),
    ...(chosen === undefined ? [] : ['an agent chose its model']),
  ];
  const now = files.disk.clock.now();
  const ms = after === null ? undefined : durationMs(after ?? EXPIRE_AFTER);
  return {
    id,
    path,
    task: fieldOf(task, 'id') ?? '',
    session: '',
    agent,
    call: '',
    tool: 'start_task',
    digest,
    created: new Date(now).toISOString(),
    expires: ms === undefined ? undefined : new Date(now + ms).toISOString(),
    taint,
    ask: {
      type: 'task_start',
      title: `start of a task: ${task.title.replace(/\s+/g, ' ').slice(0, 200)}`,
      risk: {
        level: factors.length > 0 ? 'MEDIUM' : 'LOW',
        factors,
      },
      why: [
        ...(chosen === undefined ? [] : [`an agent chose the model "${chosen}", which agentdir.yaml does not list`]),
        'the task has approval_required',
      ],
      parts: [{label: 'For', text: agent}, ...said.map(({label, text}) => ({label, text}))],
      basis: {},
      always: {none: 'it is about one task'},
    },
  };
}
