import {appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {markOf} from '../../src/effects/sandbox/environment.ts';
import {makeSandbox} from '../../src/effects/sandbox/sandbox.ts';
import type {Ask, ToolContext, ToolResult} from '../../src/effects/tool/tool.ts';
import {prepareCall} from '../../src/effects/tools/prepare-call.ts';
import {wholeState} from '../../src/effects/workspace/whole-state.ts';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import {emptyPolicy, type Policy} from '../../src/formats/rule.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {tools} from '../../src/policy/tools.ts';

export interface ToolHome {
  home: string;
  workspace: string;
  context: ToolContext;
  /** Run a call that the policy allows, or get the refusal. */
  run: (name: string, args: object | string) => Promise<ToolResult>;
}

export const allowAll: Policy = {
  ...emptyPolicy,
  ...parseAllowlist('version: 1\ncommands: {allow: ["echo *", "touch *"]}').policy,
  tools: {'*': 'allow'},
};

export const askAll: Policy = {...emptyPolicy, tools: {'*': 'ask'}};

/** What a person is asked about a call, and what runs it then. */
export async function asking(
  context: ToolContext,
  name: string,
  args: object,
  policy: Policy = askAll,
): Promise<{ask: Ask; execute: () => Promise<ToolResult>}> {
  const ready = await prepareCall({name, arguments: JSON.stringify(args)}, Object.keys(tools), policy, context);
  if ('refused' in ready || !ready.asks) throw new Error(`nobody is asked: ${JSON.stringify(ready)}`);
  const ask = await ready.ask();
  if ('success' in ask) throw new Error(ask.error);
  return {ask, execute: ready.execute};
}

/** The same, as one text. */
export function textOf({parts}: Ask): string {
  return parts.map(({label, text}) => `${label}:\n${text}`).join('\n');
}

/** A home in which agent `coder` has every tool. */
export function toolHome(changes: Partial<ToolContext> = {}): ToolHome {
  const home = mkdtempSync(join(tmpdir(), 'agentdir-tools-'));
  // Not a hook of this module: it is loaded once for many files, and a hook counts for the first of them alone.
  onTestFinished(() => rmSync(home, {recursive: true, force: true, maxRetries: 20, retryDelay: 50}));
  for (const folder of ['workspaces/coder', 'memory', 'tasks']) mkdirSync(join(home, folder), {recursive: true});
  const context: ToolContext = {
    home,
    agent: 'coder',
    session: 'coder-1',
    call: 'call-1',
    mark: markOf('run', 'coder-1', `call-${home}`),
    workspace: join(home, 'workspaces', 'coder'),
    commands: {mode: 'auto', sandbox: makeSandbox(home)},
    onStarted: () => {},
    workspaceState: () => wholeState(context, context.signal),
    onEnded: () => {},
    timeoutMs: undefined,
    tainted: [],
    retries: false,
    remember: async (path, text) => {
      writeFileSync(join(home, path), text);
      return {success: true, path};
    },
    createTask: async () => ({success: true}),
    channelSend: async () => ({success: true, entry: 1, wakes: []}),
    channelRead: async () => ({success: true, entries: []}),
    channelPeek: async () => ({success: true, entries: []}),
    documentRead: async () => ({success: true, content: '', version: 'v'}),
    documentWrite: async ({content}) => {
      writeFileSync(join(home, 'notes.md'), content);
      return {success: true, version: 'v'};
    },
    documentAppend: async ({content}) => {
      appendFileSync(join(home, 'notes.md'), content);
      return {success: true, version: 'v'};
    },
    updateTask: async () => ({success: true}),
    send: async () => ({success: true}),
    recall: async () => ({success: true}),
    query: async () => ({columns: [], rows: [], more: false, cut: false}),
    outside: {settings: {}, env: {}, messageName: `call-${home}`, sent: async () => {}},
    redact: makeRedactor([]),
    signal: new AbortController().signal,
    planTask: async ({agent_type: agent}) => ({
      ...{agent, about: 'writes code', model: 'default', tools: ['read_file'], limits: ['time: 1800 s']},
      definition: 'd',
    }),
    startTask: async () => ({success: true, session: 'coder-1.1', status: 'running'}),
    spawnAgent: async ({name}) => ({success: true, name, file: `templates/spawned/${name}.agent.yaml`}),
    agentStates: () => [],
    agents: () => [],
    sessions: () => [],
    ...changes,
  };
  const run = async (name: string, args: object | string): Promise<ToolResult> => {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const ready = await prepareCall({name, arguments: text}, Object.keys(tools), allowAll, context);
    return 'refused' in ready ? ready.refused : ready.execute();
  };
  return {home, workspace: join(home, 'workspaces', 'coder'), context, run};
}
