import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {callDigest} from '../../src/formats/approval/approval-digest.ts';
import {newApproval} from '../../src/formats/approval/approval-edit.ts';
import {newApprovalItem} from '../../src/formats/approval/approval-item.ts';
import {newSession} from '../../src/formats/session/session.ts';
import type {Call, Message} from '../../src/formats/session/session-schema.ts';
import {addTask} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {environment, temporary} from './run.ts';

/** One commit: files with their text, or undefined where one is removed. */
export interface Step {
  by?: 'Ada' | 'agentdir' | 'executor-001';
  files: Record<string, string | undefined>;
  cause?: string;
  /** The subject of a further state change of the same step. */
  joined?: string;
  /** Numbers of the steps it follows, from 1; the one before it unless told. */
  after?: number[];
}

const START = Date.parse('2026-11-16T10:00:00.000Z');

/** When the n-th step is. */
export function timeOf(step: number): string {
  return new Date(START + step * 1000).toISOString();
}

/** A home whose journal has these commits, written at once; its files are not checked out. */
export function pastHome(steps: readonly Step[]): string {
  const home = join(temporary(), 'home');
  for (const folder of ['objects', 'refs']) mkdirSync(join(home, '.git', folder), {recursive: true});
  writeFileSync(join(home, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(home, '.git/config'), '[core]\nrepositoryformatversion = 0\nbare = false\n');
  const stream = steps.map(commitText).join('');
  execFileSync('git', ['fast-import', '--quiet', '--force'], {cwd: home, env: environment, input: stream});
  writeFileSync(join(home, 'agentdir.yaml'), '');
  return home;
}

function commitText({by = 'agentdir', files, cause = 'edit', joined, after}: Step, index: number): string {
  const name = by === 'Ada' ? 'Ada <ada@example.org>' : `${by} <${by}@home>`;
  const stamp = `${(START + (index + 1) * 1000) / 1000} +0000`;
  const message = `step ${index + 1}\n\n${joined === undefined ? '' : `Step: ${joined}\n`}Cause: ${cause}\n`;
  const [first, ...others] = after ?? (index === 0 ? [] : [index]);
  const lines = Object.entries(files).map(([path, text]) =>
    text === undefined ? `D ${path}\n` : `M 100644 inline ${path}\n${data(text)}`,
  );
  return [
    `commit refs/heads/main\nmark :${index + 1}\nauthor ${name} ${stamp}\ncommitter ${name} ${stamp}\n${data(message)}`,
    first === undefined ? '' : `from :${first}\n`,
    ...others.map(other => `merge :${other}\n`),
    ...lines,
    '\n',
  ].join('');
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

export const QUEUE = 'tasks/approvals.task.md';
export const SESSION = 'sessions/s1.session.yaml';
const COMMAND = 'docker restart redis';

export const settings: Record<string, string> = {
  'agentdir.yaml': 'format: 1\n',
  'allowlist.yaml': 'version: 1\ncommands: {allow: ["ls *"], ask: ["docker *"], deny: ["rm *"]}\n',
  'templates/executor-001.agent.yaml':
    'id: executor-001\ntype: t\nsystem_prompt: p\ncapabilities: [execute_command, write_file, fetch]\n',
};

export function callOf(over: Partial<Call> & {tool?: string; args?: object} = {}): Call {
  const {tool = 'execute_command', args = {command: COMMAND}, ...rest} = over;
  return {id: 'c1', type: 'function', function: {name: tool, arguments: JSON.stringify(args)}, approval: 'a1', ...rest};
}

export function sessionOf(call: Call, result?: object, header: object = {}): string {
  const messages: Message[] = [
    {timestamp: timeOf(1), role: 'user', from: 'human', content: 'Is Redis up?'},
    {timestamp: timeOf(2), role: 'assistant', model: 'm', content: '', tool_calls: [call]},
  ];
  if (result)
    messages.push({timestamp: timeOf(6), role: 'tool_result', tool_call_id: call.id, content: JSON.stringify(result)});
  return newSession({agent_id: 'executor-001', status: 'active', ...header}, messages, '../schemas/session.json');
}

const basis = {where: 'host', 'script x.sh': 'sha256:ab'};

export function digest(call = callOf(), session = 's1'): string {
  const {name: tool, arguments: args} = call.function;
  const agent = 'executor-001';
  return callDigest({tool, arguments: args, cwd: `workspaces/${agent}`, agent, session, call: call.id, basis});
}

export interface ItemOver {
  id?: string;
  box?: '_' | 'x' | '-';
  fields?: Record<string, string>;
}

/** The queue with these items. */
export function queueOf(...items: readonly ItemOver[]): string {
  let text = '# Approvals\n\n## TODO\n';
  for (const {id = 'a1', box = '_', fields = {}} of items) {
    const item = newApprovalItem({
      id,
      title: 'Approve command',
      type: 'terminal_command',
      agent: 'executor-001',
      created: timeOf(2),
      risk: 'HIGH',
      factors: [],
      command: COMMAND,
      fields: {session: 's1', call: 'c1', tool: 'execute_command', digest: digest(), ...fields},
    });
    text = addTask(parseTasks(text), {...item, box});
  }
  return text;
}

export function pageOf(id = 'a1'): string {
  const bound = Object.entries(basis).map(([key, value]) => `${key}: ${value}`);
  return newApproval({
    id,
    meta: {agent: 'executor-001', session: 's1', call: 'c1', digest: digest(), edits: 'Command'},
    type: 'terminal_command',
    parts: [
      {label: 'Command', text: COMMAND, language: 'bash'},
      {label: 'Bound to', text: bound.join('\n')},
    ],
    risk: 'HIGH',
    factors: [],
  });
}

export const PENDING = 'approvals/pending/a1.approval.md';
export const APPROVED = 'approvals/approved/a1.approval.md';
const yes = {status: 'approved', approved_by: 'Ada', approved_at: timeOf(4)};

/** How it goes when all is well: asked, ticked by hand, recorded, started, ended, noted. */
export function goodStory(): [Step, Step, Step, Step, Step, Step, Step, Step] {
  const call = callOf();
  const started = callOf({started: timeOf(6), run: 'r1'});
  return [
    {by: 'Ada', files: settings},
    {by: 'executor-001', files: {[SESSION]: sessionOf(call)}},
    {files: {[QUEUE]: queueOf({}), [PENDING]: pageOf()}},
    {by: 'Ada', files: {[QUEUE]: queueOf({box: 'x'})}},
    {files: {[QUEUE]: queueOf({box: 'x', fields: yes}), [PENDING]: undefined, [APPROVED]: pageOf()}},
    {by: 'executor-001', files: {[SESSION]: sessionOf(started)}, cause: 'call'},
    {by: 'executor-001', files: {[SESSION]: sessionOf(started, {success: true, exit_code: 0})}, cause: 'call'},
    {files: {[QUEUE]: queueOf({box: 'x', fields: {...yes, executed_at: timeOf(6), outcome: 'exit code 0'}})}},
  ];
}
