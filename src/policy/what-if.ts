import type {Policy, Verdict} from '../formats/rule.ts';
import {judgeAddress} from './address.ts';
import {type Judgement, judge, judgeTool} from './judge.ts';
import {toolNamed} from './tools.ts';

/** A call in a current or past version of a session. */
export interface PastCall {
  agent: string;
  session: string;
  call: string;
  /** ISO 8601, if known. */
  when: string | undefined;
  tool: string;
  /** JSON, as the model wrote it. */
  arguments: string;
}

/** A command or tool of one agent, listed once however often it was called. */
export interface RejudgedCall {
  /** Command line or tool name. */
  what: string;
  agent: string;
  /** From its last call. */
  session: string;
  call: string;
  when: string | undefined;
  count: number;
  before: Verdict;
  after: Verdict;
  /** Permissions that its rules grant: `sandbox: host`, `network: true`. */
  grants: {before: string; after: string};
  /** The deciding rule of the new policy. */
  rule: string | undefined;
  reasons: readonly string[];
}

export interface WhatIf {
  /** Number of distinct commands. */
  commands: number;
  commandCalls: number;
  /** Commands and other tools with a different verdict or different grants. */
  changed: RejudgedCall[];
  tools: RejudgedCall[];
}

interface Verdicts {
  verdict: Verdict;
  grants: string;
  rule: string | undefined;
  reasons: readonly string[];
}

/** Judge each call by both policies. Must not throw. */
export function whatIf(calls: Iterable<PastCall>, before: Policy, after: Policy): WhatIf {
  const commands = new Map<string, RejudgedCall>();
  const tools = new Map<string, RejudgedCall>();
  let commandCalls = 0;
  for (const call of calls) {
    const tool = toolNamed(call.tool) ?? call.tool;
    const text = argumentOf(call, tool === 'execute_command' ? 'command' : 'url');
    if (tool === 'execute_command') {
      if (text === undefined) continue;
      commandCalls++;
      count(commands, call, text, `${call.agent}\0${text}`, policy => ofCommand(judge(text, policy, call)));
    } else {
      const address = tool === 'fetch' ? text : undefined;
      const path = argumentOf(call, 'path');
      const of = (policy: Policy): Verdicts => ofTool(tool, {address, path, agent: call.agent}, policy);
      // One entry per change of a tool, whoever called it.
      const [was, is] = [of(before).verdict, of(after).verdict];
      count(tools, call, tool, `${tool}\0${was}\0${is}`, of);
    }
  }
  const changes = (all: Map<string, RejudgedCall>): RejudgedCall[] =>
    [...all.values()].filter(one => one.before !== one.after || one.grants.before !== one.grants.after).sort(byWeight);
  return {commands: commands.size, commandCalls, changed: changes(commands), tools: changes(tools)};

  function count(
    all: Map<string, RejudgedCall>,
    call: PastCall,
    what: string,
    key: string,
    of: (p: Policy) => Verdicts,
  ): void {
    const known = all.get(key);
    const {agent, session, call: id, when} = call;
    if (known) {
      known.count++;
      if ((when ?? '') >= (known.when ?? '')) Object.assign(known, {agent, session, call: id, when});
      return;
    }
    const [was, is] = [of(before), of(after)];
    const grants = {before: was.grants, after: is.grants};
    const verdicts = {before: was.verdict, after: is.verdict, grants, rule: is.rule, reasons: is.reasons};
    all.set(key, {what, agent, session, call: id, when, count: 1, ...verdicts});
  }
}

function argumentOf(call: PastCall, name: string): string | undefined {
  try {
    const value = (JSON.parse(call.arguments) as Record<string, unknown> | null)?.[name];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function ofCommand({verdict, segments, reasons}: Judgement): Verdicts {
  const grants = new Set(
    segments.flatMap(({sandbox, network}) => [sandbox ? `sandbox: ${sandbox}` : '', network ? 'network: true' : '']),
  );
  const rule = segments.find(segment => segment.verdict === verdict && segment.rule !== undefined)?.rule;
  return {verdict, grants: verdict === 'allow' ? [...grants].filter(Boolean).sort().join(', ') : '', rule, reasons};
}

function ofTool(
  tool: string,
  {address, path, agent}: {address: string | undefined; path: string | undefined; agent: string},
  policy: Policy,
): Verdicts {
  const {verdict, reason} =
    address === undefined ? judgeTool(tool, policy, {agent, path}) : judgeAddress(address, policy, agent);
  return {verdict, grants: '', rule: undefined, reasons: [reason]};
}

/** Calls that no longer ask come first, then other looser verdicts, then stricter ones. */
const order = ['ask allow', 'deny allow', 'allow allow', 'deny ask', 'allow ask', 'allow deny', 'ask deny'];

function byWeight(a: RejudgedCall, b: RejudgedCall): number {
  const place = ({before, after}: RejudgedCall): number => order.indexOf(`${before} ${after}`);
  return place(a) - place(b) || b.count - a.count || (a.what < b.what ? -1 : 1);
}
