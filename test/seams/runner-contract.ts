import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import type {ToolContext} from '../../src/effects/tool/tool.ts';
import type {DaemonServices, ModelQuestion, RunnableCall, Runner} from '../../src/runners/runner.ts';
import {allowAll, askAll, type ToolHome, toolHome} from '../effects/tool-home.ts';

const never = new AbortController().signal;

function questionOf(content: string): ModelQuestion {
  const playbook = {id: 'test', steps: []};
  return {
    choice: {kind: 'playbook', why: 'a test'},
    playbooks: [playbook as never],
    agent: 'coder',
    messages: [{role: 'user', content}] as ModelQuestion['messages'],
    session: [{timestamp: '2026-01-31T12:00:00.000Z', role: 'user', content}],
    tools: [],
  };
}

function callOf({context}: ToolHome, name: string, args: object, changes: Partial<RunnableCall> = {}): RunnableCall {
  const {home, agent, session, call, mark, workspace, timeoutMs, tainted, retries} = context;
  return {
    name,
    arguments: JSON.stringify(args),
    capabilities: [name],
    policy: allowAll,
    approved: false,
    place: {home, agent, session, call, mark, workspace, timeoutMs, tainted, retries},
    sandbox: 'auto',
    outside: {settings: {}, messageName: 'one call'},
    ...changes,
  };
}

function servicesOf({
  remember,
  createTask,
  updateTask,
  send,
  query,
  recall,
  agents,
  sessions,
  ...of
}: ToolContext): DaemonServices {
  const {channelSend, channelRead, channelPeek, documentRead, documentWrite, documentAppend} = of;
  const {planTask, startTask, spawnAgent, agentStates} = of;
  const context = {channelSend, channelRead, channelPeek, documentRead, documentWrite, documentAppend};
  return {
    ...context,
    ...{planTask, startTask, spawnAgent, agentStates},
    remember,
    createTask,
    updateTask,
    send,
    query,
    recall,
    agents,
    sessions,
    sent: async () => {},
    ended: () => {},
  };
}

/** What the daemon relies on, wherever effects run. */
export function runnerContract(name: string, make: (of: ToolHome) => Runner): void {
  describe(`the contract of a runner: ${name}`, () => {
    it('answers a question with plain values', async () => {
      const answer = await make(toolHome()).ask(questionOf('hello'), {signal: never, onText: () => {}});
      expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
      expect('reply' in answer || 'failed' in answer).toBe(true);
    });

    it('does not throw where a model cannot be chosen', async () => {
      const question = {...questionOf('hello'), choice: {failed: 'no such model', hint: 'name another'}};
      expect(await make(toolHome()).ask(question, {signal: never, onText: () => {}})).toEqual({
        failed: 'no such model',
        hint: 'name another',
      });
    });

    it('runs a call from plain values, once', async () => {
      const of = toolHome();
      const call = callOf(of, 'write_file', {path: 'a.txt', content: 'text\n'});
      const sent = JSON.parse(JSON.stringify(call)) as RunnableCall;
      const result = await make(of).execute({...call, ...sent, policy: allowAll}, servicesOf(of.context), never);
      expect(result).toMatchObject({success: true});
      expect(existsSync(join(of.workspace, 'a.txt'))).toBe(true);
    });

    it('asks the daemon for what the daemon alone may write', async () => {
      const of = toolHome();
      const notes: string[] = [];
      const services: DaemonServices = {
        ...servicesOf(of.context),
        remember: async (file, text) => {
          notes.push(`${file}: ${text}`);
          return {success: true, path: file};
        },
      };
      const result = await make(of).execute(
        callOf(of, 'remember', {file: 'notes.md', text: 'a note'}),
        services,
        never,
      );
      expect(result).toMatchObject({success: true});
      expect(notes).toHaveLength(1);
      expect(notes[0]).toContain('a note');
    });

    it('runs nothing that asks and nobody approved', async () => {
      const of = toolHome();
      const write = callOf(of, 'write_file', {path: 'a.txt', content: 'text\n'}, {policy: askAll});
      expect(await make(of).execute(write, servicesOf(of.context), never)).toMatchObject({success: false});
      expect(existsSync(join(of.workspace, 'a.txt'))).toBe(false);
      const approved = {...write, approved: true};
      expect(await make(of).execute(approved, servicesOf(of.context), never)).toMatchObject({success: true});
    });

    it('gives back refusals and failures as results', async () => {
      const of = toolHome();
      const runner = make(of);
      const unknown = await runner.execute(callOf(of, 'no_such_tool', {}), servicesOf(of.context), never);
      expect(unknown).toMatchObject({success: false, code: 'NOT_ALLOWED'});
      const missing = await runner.execute(callOf(of, 'read_file', {path: 'none.txt'}), servicesOf(of.context), never);
      expect(missing).toMatchObject({success: false, code: 'FAILED'});
    });

    it('ends soon when it is told to', async () => {
      const of = toolHome();
      const abort = new AbortController();
      const running = make(of).execute(callOf(of, 'ask_human', {question: 'x'}), servicesOf(of.context), abort.signal);
      abort.abort(new Error('the daemon was stopped'));
      expect(await running).toMatchObject({success: false});
    });
  });
}
