import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {expect} from 'vitest';
import {parseSession, type Session} from '../../src/formats/session/session.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {type FakeOpenAI, startFakeOpenAI} from '../model/fake-openai.mjs';
import {read} from './serve.ts';

/** The agent whose model this is: what it makes, it makes once. */
export const WORKER = {
  'templates/worker.agent.yaml':
    'id: worker\ntype: worker\nmodel: fake-1\nsystem_prompt: You work.\ncapabilities: [list_agents, read_file, create_file, execute_command]\n',
  'allowlist.yaml': 'version: 1\ncommands: {allow: ["mktemp *"]}\ntools: {create_file: allow}\n',
};

/**
 * A model whose answers can be told apart. To a question that begins with "write" it calls for something to be read,
 * something to be made, that to be read, and a command that counts its runs; then it says the number of its answer and the last question it was asked.
 * To one that begins with "say" it says so at once, to any other the number only.
 */
export async function answering(): Promise<FakeOpenAI> {
  return startFakeOpenAI({
    keep: false,
    answer: ({messages}, n) => {
      const question = messages.findLast(({role}) => role === 'user')?.content ?? '';
      const last = messages.at(-1);
      if (!/^(?:write|say)/.test(question)) return {text: `answer ${n}`};
      if (last?.role === 'tool' || question.startsWith('say')) return {text: `answer ${n} to ${question}`};
      const path = `made-${n}.txt`;
      return {
        calls: [
          {name: 'list_agents'},
          {name: 'create_file', arguments: {path, content: `${n}\n`}},
          {name: 'read_file', arguments: {path}},
          {name: 'execute_command', arguments: {command: `mktemp ran-${n}.XXXXXX`}},
        ],
      };
    },
  });
}

/** Whether it has so many questions and nothing is left to do. */
export function isAnswered(text: string, questions: number): boolean {
  const {header, messages} = parseSession(text);
  return header?.status === 'sleeping' && messages.filter(({role}) => role === 'user').length === questions;
}

/**
 * What must hold of a conversation however often the daemon was killed: each question once, in order, answered; no
 * answer twice, and each after the question it was given to; for each call one result; what was made was made once.
 */
export function expectWellTold(home: string, path: string, questions: readonly string[]): void {
  const session = parseSession(read(home, path));
  const wrong = [...wrongsOf(session, questions), ...wrongCalls(home, session)];
  expect(wrong, `${path}\n${read(home, path)}`).toEqual([]);
}

function wrongsOf({header, messages}: Session, questions: readonly string[]): string[] {
  const wrong: string[] = [];
  const asked = messages.filter(({role}) => role === 'user').map(({content}) => content);
  if (asked.join('\n') !== questions.join('\n'))
    wrong.push(`asked ${asked.join(', ')} instead of ${questions.join(', ')}`);
  if (header?.status !== 'sleeping') wrong.push(`is ${header?.status}: ${header?.error}`);
  const numbers = new Set<string>();
  let question = '';
  for (const {role, content, tool_calls} of messages) {
    if (role === 'user') question = content ?? '';
    if (role !== 'assistant') continue;
    const [, number, to] = /^answer (\d+) to (.*)$/.exec(content ?? '') ?? [];
    const id = number ?? tool_calls?.[0]?.id.split('_')[1] ?? '';
    if (numbers.has(id)) wrong.push(`answer ${id} is there twice`);
    numbers.add(id);
    if (to !== undefined && to !== question) wrong.push(`answer ${id} to "${to}" stands after "${question}"`);
  }
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || last.tool_calls) wrong.push('the last question is not answered');
  return wrong;
}

function wrongCalls(home: string, {messages}: Session): string[] {
  const wrong: string[] = [];
  const open = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'tool_result') {
      const made = open.get(message.tool_call_id ?? '');
      if (made === undefined) wrong.push(`a result of ${message.tool_call_id} that nobody waits for`);
      open.delete(message.tool_call_id ?? '');
      wrong.push(...wrongResult(home, message, made ?? ''));
    } else if (open.size > 0) {
      wrong.push(`no result of ${[...open.keys()].join(', ')}`);
      open.clear();
    }
    for (const call of message.tool_calls ?? []) {
      const {name, arguments: args} = call.function;
      const {path, command} = JSON.parse(args) as {path?: string; command?: string};
      const made = name === 'create_file' ? path : command?.split(' ').at(-1);
      open.set(call.id, made ?? '');
      if ((made !== undefined) !== (call.started !== undefined)) wrong.push(`${call.id} is marked wrongly`);
    }
  }
  return wrong;
}

/** `made`: what the call was to make, if it was. */
function wrongResult(home: string, {content, tool_call_id}: Message, made: string): string[] {
  const {success, code, error} = JSON.parse(content ?? '') as {success: boolean; code?: string; error?: string};
  if (made === '') return success || /made-/.test(error ?? '') ? [] : [`${tool_call_id}: ${error}`];
  const times = filesLike(join(home, 'workspaces/worker'), made.replace(/X+$/, ''));
  if (times > 1) return [`${made} was made ${times} times`];
  if (success) return times === 1 ? [] : [`${made} was not made`];
  return code === 'INTERRUPTED' ? [] : [`${tool_call_id}: ${error}`];
}

function filesLike(folder: string, prefix: string): number {
  return existsSync(folder) ? readdirSync(folder).filter(name => name.startsWith(prefix)).length : 0;
}
