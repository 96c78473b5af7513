import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import type {CommittedFile, Line} from './commits.ts';

/** A scene: a commit that adds a matching line to a matching file, and what is shown of it. */
export interface Scene {
  step: string;
  title: string;
  path: RegExp;
  /** A line that only this one adds. */
  adds: RegExp;
  shows: RegExp;
  /** An additional remark. */
  more?: string;
}

export const INBOX = 'inbox/slack-messages.jsonl';
export const TASKS = 'tasks/redis-check.task.md';

/** The question. The playbook answers in this thread. */
export const question = {
  text: 'Can you check if Redis is running?',
  from: 'boss',
  channel: '#ops',
  thread: '1759572000.000100',
};

const queue = new RegExp(`^${APPROVALS_FILE.replaceAll('.', '\\.')}$`);
const tasks = new RegExp(`^${TASKS.replaceAll('.', '\\.')}$`);
const ticks = (box: string, title: string) => new RegExp(`^- \\[${box}\\] .*"Approve ${title}`);
const decides = (title: string) => ({
  path: queue,
  shows: new RegExp(`^- \\[.\\] .*"Approve ${title}|^ {2}(?:approved_by|rejected_by|rejection_reason):`),
});

export const scenes = {
  delivered: {
    step: 'delivered',
    title: 'The daemon delivers it to the planner, marked as untrusted input.',
    path: /^sessions\/planner-001\//,
    adds: /^ {4}from: inbox\//,
    shows: /^ {4}(?:from: inbox\/|content:|untrusted:)|^ {6}Can you/,
  },
  planned: {
    step: 'planned',
    title: 'The planner makes a plan: tasks for three other agents, in a file.',
    path: tasks,
    adds: /^ *- \[ \] .*@retriever-001/,
    shows: /^ *- \[.\] |^ *depends_on:/,
  },
  found: {
    step: 'found',
    title: 'The retriever searches memory/ and records what it found.',
    path: tasks,
    adds: /^ *- \[x\] .*@retriever-001/,
    shows: /^ *- \[.\] |@retriever-001: /,
  },
  commandAsked: {
    step: 'command-asked',
    title: 'The executor wants to run a command. No rule allows it, so it asks.',
    path: queue,
    adds: ticks('_', 'command'),
    shows: /^- \[_\] |^ {2}(?:agent|risk|reason|taint):/,
    more: './docker is a stand-in. `docker ps` itself is allowed, by a rule in allowlist.yaml.',
  },
  commandApproved: {
    step: 'command-approved',
    title: 'The tick is a commit like any other.',
    adds: ticks('x', 'command'),
    ...decides('command'),
  },
  commandRejected: {
    step: 'command-rejected',
    title: 'You rejected it: nothing runs, and the agent gets your answer.',
    adds: ticks('-', 'command'),
    ...decides('command'),
  },
  ran: {
    step: 'ran',
    title: 'The command runs, once, and the executor gets its output.',
    path: /^sessions\/executor-001\//,
    adds: /"exit_code":/,
    shows: /"exit_code":/,
  },
  checked: {
    step: 'checked',
    title: 'It records the result and completes its task. That wakes the evaluator.',
    path: tasks,
    adds: /^ *- \[x\] .*@executor-001/,
    shows: /^ *- \[.\] |@executor-001: /,
  },
  blocked: {
    step: 'blocked',
    title: 'The task is blocked, with a reason. The others wait for it.',
    path: tasks,
    adds: /^ *- \[!\] /,
    shows: /^ *- \[.\] |^ *- \d{4}-\S+ @/,
  },
  validated: {
    step: 'validated',
    title: 'The evaluator confirms the result. That wakes the planner, which now has all it needs.',
    path: tasks,
    adds: /^ *- \[x\] .*@evaluator-001/,
    shows: /^ *- \[.\] |@evaluator-001: /,
  },
  answerAsked: {
    step: 'answer-asked',
    title: 'The planner wants to answer in Slack. Outgoing messages always need approval.',
    path: queue,
    adds: ticks('_', 'Slack message'),
    shows: /^- \[_\] |^ {2}(?:agent|risk|taint):/,
  },
  answerApproved: {
    step: 'answer-approved',
    title: 'The answer may be sent: exactly this text, once.',
    adds: ticks('x', 'Slack message'),
    ...decides('Slack message'),
  },
  answerRejected: {
    step: 'answer-rejected',
    title: 'You rejected it: nothing is sent, and the agent gets your answer.',
    adds: ticks('-', 'Slack message'),
    ...decides('Slack message'),
  },
  recorded: {
    step: 'recorded',
    title: 'The request stays in the file, with its outcome.',
    path: queue,
    adds: /^ {2}outcome: done$/,
    shows: /^ {2}(?:executed_at|outcome):/,
  },
  failed: {
    step: 'failed',
    title: 'The call failed. It is not retried automatically.',
    path: queue,
    adds: /^ {2}outcome: (?!done)/,
    shows: /^ {2}(?:executed_at|outcome):/,
  },
} as const satisfies Record<string, Scene>;

/** The change that matches this scene. */
export function findScene({path, adds}: Scene, changes: readonly CommittedFile[]): CommittedFile | undefined {
  return changes.find(
    change => path.test(change.path) && change.lines.some(({sign, text}) => sign === '+' && adds.test(text)),
  );
}

export function shownLines({shows}: Scene, {lines}: CommittedFile): Line[] {
  return lines.filter(({text}) => shows.test(text));
}
