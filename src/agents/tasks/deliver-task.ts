import {GENERAL} from '../../check/task-links.ts';
import {assignmentOf} from '../../decide/assignment.ts';
import {formerTaskId, idOfDelivery} from '../../decide/delivered-task.ts';
import {unlistedModelOf} from '../../decide/task-gate.ts';
import {informedNow, informedOfUnknown} from '../../decide/task-version.ts';
import {assignmentWords, renamedWords, taskMessage} from '../../decide/task-words.ts';
import {parseSession} from '../../formats/session/session.ts';
import {fieldOf, type Task} from '../../formats/task/task.ts';
import {isApprovalRequired, isDelivered} from '../../formats/task/task-approval.ts';
import {assigneeOf} from '../../formats/task/task-assignee.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {readHomeFile} from '../../home/read.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import {toolNamed} from '../../policy/tools.ts';
import {type Receiver, sessionOfAgent, sharedSession, taskSession} from '../mail/receivers.ts';
import type {With} from '../state/parts.ts';
import {gateContext} from './gate-context.ts';

/** Deliver a task to its assignee once. If it was delivered before, learn whether the agent has begun. */
export async function deliverTask(
  daemon: With<'files' | 'reports' | 'current' | 'mail' | 'approvals' | 'tasks'>,
  path: string,
  task: Task,
  key: string,
): Promise<void> {
  const {files} = daemon;
  if (await asksForModel(daemon, task)) {
    daemon.tasks.addNews(key, {gated: true});
    lookAgain(files, path);
    return;
  }
  const agent = await assignee(daemon, task);
  daemon.reports.troubles.set(
    `start ${fieldOf(task, 'id')}`,
    agent === undefined
      ? `task ${fieldOf(task, 'id')} (${path}): ${noTemplate(fieldOf(task, 'assign_template'))}`
      : undefined,
  );
  const template = agent === undefined ? undefined : await daemon.current.template(agent);
  if (agent === undefined || !template) return;
  if (await isDeliveredElsewhere(daemon, path, task, key, agent)) return;
  const mayUpdate = template.capabilities.some(name => toolNamed(name) === 'update_task');
  const receiver = receiverOf(files, agent, task, template.context === 'fresh');
  const words = assignmentWords(assignmentOf(task, path), mayUpdate);
  const informed = informedNow(task, agent);
  daemon.mail.post(receiver.path, {
    id: key,
    agent,
    opening: receiver.opening,
    unsure: receiver.unsure,
    // An approved task counts as started by a person.
    message: taskMessage(task, words, fieldOf(task, 'approval') === undefined ? undefined : null),
    unless: messages => {
      const isGone = (id: string) => files.index.definitionsOf(`task/${id}`).length === 0;
      const before = fieldOf(task, 'assigned') === undefined ? undefined : formerTaskId(task, messages, isGone);
      return before && renamedWords(task, before);
    },
    delivered: ({session, begun, at: since, content}) => {
      // Use the time of the message: it identifies the task if the task is renamed.
      const at = since ?? timestamp(files.disk.clock);
      daemon.tasks.addNews(key, {
        heard: true,
        // After a crash the message may be of an earlier version of the task.
        delivered: {at, session, informed: content === words ? informed : informedOfUnknown()},
        ...(begun && {begun: timestamp(files.disk.clock)}),
      });
      const approval = fieldOf(task, 'approval');
      if (approval !== undefined)
        daemon.approvals.outcomes.set(approval, {executed_at: at, outcome: `delivered to ${agent} in ${session}`});
      lookAgain(files, path);
    },
  });
  lookAgain(files, receiver.path);
}

function noTemplate(wanted: string | undefined): string {
  if (wanted === undefined)
    return 'there is no template for its agent; add templates/general-purpose.agent.md, or set default_agent in agentdir.yaml';
  return `assign_template names "${wanted}", and there is no such agent; see agentdir agents list`;
}

/** Find out whether this home delivered a task that says `assigned` and no session, and record the session if it did. */
export async function seekDelivery(
  daemon: With<'files' | 'current' | 'tasks'>,
  path: string,
  task: Task,
  key: string,
): Promise<void> {
  const agent = await assignee(daemon, task);
  const delivered = agent === undefined ? undefined : await deliveryOf(daemon.files, key, agent);
  daemon.tasks.addNews(key, {sought: true, ...(delivered && {delivered})});
  lookAgain(daemon.files, path);
}

/** Whether the task is in a session of the agent that is completed: no other session gets it then. */
async function isDeliveredElsewhere(
  {files, tasks}: With<'files' | 'tasks'>,
  path: string,
  task: Task,
  key: string,
  agent: string,
): Promise<boolean> {
  if (!isDelivered(task) || sessionOfAgent(files, fieldOf(task, 'session'), agent)) return false;
  const delivered = await deliveryOf(files, key, agent);
  if (!delivered) return false;
  tasks.addNews(key, {heard: true, delivered});
  lookAgain(files, path);
  return true;
}

/** How many session files to read at a time. */
const AT_A_TIME = 20;

/** The session of the agent that has the delivery, open or not, also among archived messages. */
async function deliveryOf(
  {disk, index}: HomeFiles,
  key: string,
  agent: string,
): Promise<{session: string; at: string; informed: string} | undefined> {
  let read = 0;
  for (const path of [...index.paths()]) {
    const fact = index.facts(path)?.session;
    if (fact?.agent !== agent) continue;
    if (++read % AT_A_TIME === 0) await new Promise(resolve => setImmediate(resolve));
    const file = readHomeFile(disk, path);
    const text = file && 'text' in file ? file.text : '';
    const message = text.includes(key) ? parseSession(text).messages.find(({delivery}) => delivery === key) : undefined;
    const session = fact.segment ? fact.id.replace(/\.\d+$/, '') : fact.id;
    if (message) return {session, at: message.timestamp ?? '', informed: informedOfUnknown()};
  }
  return undefined;
}

/** Note that the agent has begun a task, because its model was asked about the delivery. */
export function noteTaskBegun({files, tasks}: With<'files' | 'tasks'>, delivery: string): void {
  const id = idOfDelivery(delivery);
  const path = id === undefined ? undefined : files.index.definitionsOf(`task/${id}`)[0]?.path;
  const news = tasks.get(delivery);
  // If no file has the task now, keep the news for when one has it again.
  if ((path === undefined && !news?.heard) || news?.begun !== undefined) return;
  tasks.addNews(delivery, {begun: timestamp(files.disk.clock)});
  if (path !== undefined) lookAgain(files, path);
}

/** Whether an agent chose a model that no person listed, so that a person has to approve the start. */
async function asksForModel({files, current}: With<'files' | 'current'>, task: Task): Promise<boolean> {
  if (isApprovalRequired(fieldOf(task, 'approval_required'))) return false;
  return unlistedModelOf(task, await current.settings(), gateContext(files)) !== undefined;
}

/** The agent for the task. `new:provider/model` uses the template of `assign_template`, else the general one, with that model. */
async function assignee({files, current}: With<'files' | 'current'>, task: Task): Promise<string | undefined> {
  const {name, model} = assigneeOf(task);
  if (model === undefined) return name;
  const exists = (agent: string) => files.index.definitionsOf(`agent/${agent}`).length > 0;
  const wanted = fieldOf(task, 'assign_template');
  if (wanted !== undefined) return exists(wanted) ? wanted : undefined;
  const {default_agent} = await current.settings();
  return [GENERAL, default_agent ?? ''].find(exists);
}

function receiverOf(files: HomeFiles, agent: string, task: Task, fresh: boolean): Receiver {
  const before = sessionOfAgent(files, fieldOf(task, 'session'), agent);
  if (before) return before;
  const {spawn, model} = assigneeOf(task);
  if (!spawn && !fresh) return sharedSession(files, agent);
  const of = {id: fieldOf(task, 'id') ?? '', attempt: fieldOf(task, 'attempt') ?? '1'};
  return taskSession(files, agent, of, {
    ...(spawn && {ephemeral: true}),
    ...(model !== undefined && {model}),
  });
}
