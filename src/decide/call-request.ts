import {newApproval} from '../formats/approval/approval-edit.ts';
import {type ApprovalItem, newApprovalItem} from '../formats/approval/approval-item.ts';
import {withShownMark} from '../formats/approval/approval-shown.ts';
import {jsonText, makeVisible} from '../formats/common/visible.ts';
import type {NewTask} from '../formats/task/task-text.ts';
import {type Ask, optionsText} from '../policy/ask.ts';

/** A request to approve a call, or the start of a task. */
export interface CallRequest {
  id: string;
  /** Path of the session file or task file. */
  path: string;
  /** Id of the task to start; then session, call and tool are empty. */
  task?: string;
  session: string;
  agent: string;
  call: string;
  tool: string;
  ask: Ask;
  digest: string;
  created: string;
  /** Undefined: never. */
  expires: string | undefined;
  /** Sources of untrusted text in the session. */
  taint: readonly string[];
  /** The task that the session does for another one. */
  delegated?: {session: string; call: string; description: string};
}

const QUESTION = [
  'To answer: add a line `answer: <your answer>` below, put an x in the box above and save.',
  'To leave it unanswered: put a - in the box above and save.',
];

/** The queue item. */
export function requestItem(request: CallRequest): NewTask {
  const {id, agent, created, ask} = request;
  const command = ask.edits?.argument === 'command' ? askedPart(ask, ask.edits.label) : undefined;
  return newApprovalItem({
    id,
    title: ask.question ? `Answer ${ask.title}` : `Approve ${ask.title}`,
    type: ask.type,
    agent,
    created,
    risk: ask.risk.level,
    factors: ask.risk.factors,
    ...(command !== undefined && {command}),
    ...(ask.question && {howTo: QUESTION}),
    ...(ask.grants && {grants: ask.grants}),
    fields: {
      ...whose(request),
      ...(request.delegated && {delegated_by: oneLine(request.delegated)}),
      ...(ask.basis.where === 'host' && {where: 'host'}),
      ...(ask.question?.options.length && {options: optionsText(ask.question.options)}),
      ...(ask.reason !== undefined && {reason: ask.reason}),
      ...(request.taint.length > 0 && {taint: request.taint.join(', ')}),
      ...(request.expires !== undefined && {expires: request.expires}),
      digest: request.digest,
    },
  });
}

/** The approval page: all details, then the place to decide. */
export function requestPage(request: CallRequest): string {
  const {id, ask} = request;
  const bound = Object.entries(ask.basis).sort(([a], [b]) => (a < b ? -1 : 1));
  const always = 'none' in ask.always ? noRule(ask.always.none) : rulesText(ask.always);
  const page = newApproval({
    id,
    summary: summaryOf(request),
    meta: {
      agent: request.agent,
      ...whose(request),
      created: request.created,
      ...(request.expires !== undefined && {expires: request.expires}),
      status: 'pending',
      ...(ask.edits && {edits: ask.edits.label}),
      digest: request.digest,
    },
    type: ask.type,
    parts: [
      ...ask.parts,
      ...(ask.reason === undefined ? [] : [{label: 'Reason', text: ask.reason}]),
      ...(request.delegated ? [{label: 'Delegated by', text: delegatedWords(request.delegated)}] : []),
      {label: 'Asks because', text: ask.why.join('\n')},
      ...(request.taint.length > 0 ? [{label: 'Read from outside', text: request.taint.join('\n')}] : []),
      ...(bound.length > 0
        ? [{label: 'Bound to', text: bound.map(([key, value]) => `${plainKey(key)}: ${value}`).join('\n')}]
        : []),
      ...(ask.question ? [] : [{label: 'With always', text: always}]),
    ],
    risk: ask.risk.level,
    factors: ask.risk.factors,
    ...(ask.question && {question: true}),
    ...(ask.grants && {grants: ask.grants}),
  });
  return withShownMark(page);
}

/** Who asks for what. The words of the call itself are fenced below. */
function summaryOf({agent, tool, ask}: CallRequest): string {
  const {where} = ask.basis;
  const places: Readonly<Record<string, string>> = {
    sandbox: 'in the sandbox, without network',
    'sandbox with network': 'in the sandbox, with network',
    host: 'outside the sandbox, on the host',
  };
  if (ask.question) return `${agent} asks you this question.`;
  if (ask.type === 'task_start') return `This task waits for your approval before ${agent} starts it.`;
  const again = ask.type === 'retry' ? ' once more: an earlier run was interrupted' : '';
  if (where !== undefined) return `${agent} asks to run this command ${places[where] ?? where}${again}.`;
  return `${agent} asks to call ${tool} as shown below${again}.`;
}

function delegatedWords({session, call, description}: NonNullable<CallRequest['delegated']>): string {
  return `session ${session}, call ${call}\n\n${description}`;
}

const LONGEST_LINE = 200;

function oneLine({session, call, description}: NonNullable<CallRequest['delegated']>): string {
  const text = description.replace(/[\s\u0085]+/g, ' ').trim();
  return `${session}, call ${call}: ${text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE - 1)}…` : text}`;
}

/** Why a tick on this item is ambiguous: the person edited text that has no effect. */
export function strayInItem({task, command}: ApprovalItem, request: CallRequest): string | undefined {
  const {edits} = request.ask;
  const spaced = (text: string) => text.split(/\s+/).join(' ').trim();
  const hasCommand = edits?.argument === 'command';
  if (hasCommand && command === undefined) return 'its line "command:" is gone; put it back, or reject it';
  if (spaced(task.title) === spaced(requestItem(request).title)) return undefined;
  const may = hasCommand ? '"command:" below it' : edits ? `${edits.label} on its page` : undefined;
  const how = may === undefined ? '' : `; to have something else done, change ${may}`;
  return `its title was changed, and that changes nothing${how}; put the title back`;
}

function whose({task, session, call, tool}: CallRequest): Record<string, string> {
  return task === undefined ? {session, call, tool} : {task};
}

/** A key with invisible characters as JSON, so that it can be parsed again. */
function plainKey(key: string): string {
  return makeVisible(key) === key && !key.includes('\n') && !key.startsWith('"') ? key : jsonText(key);
}

/** The original text of a part of the request. */
export function askedPart({parts}: Ask, label: string): string | undefined {
  return parts.find(part => part.label === label)?.text;
}

function rulesText({rules, but}: Extract<Ask['always'], {rules: unknown}>): string {
  return [...rules.map(ruleText), ...(but === undefined ? [] : [`but: ${but}`])].join('\n');
}

function ruleText(rule: Extract<Ask['always'], {rules: unknown}>['rules'][number]): string {
  if ('address' in rule) return `network: allow: ${rule.address}`;
  if (!('tool' in rule)) return `commands: allow: ${JSON.stringify(rule)}`;
  const {tool, ...where} = rule;
  return `tools: ${JSON.stringify({match: tool, ...where, verdict: 'allow'})}`;
}

function noRule(why: string): string {
  return why.startsWith('no rule can') ? why : `no rule is possible: ${why}`;
}
