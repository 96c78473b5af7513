import type {Call} from '../../../formats/session/session-schema.ts';
import {isCapable} from '../../../policy/tools.ts';
import {type HomeState, templateOf} from '../verify/home-state.ts';
import {effectOf, verdictOf} from '../verify/verdict-of.ts';
import type {MessageEntry} from './entry.ts';
import type {Oddity, StepResult, VersionStep} from './step.ts';

/** A call that a version ran, asked about or refused for the first time. */
export interface CallDone {
  /** Index of the answer. */
  at: number;
  call: Call;
  agent: string;
  tainted: boolean;
  how: 'ran' | 'asked' | 'refused';
}

/** Calls that this step asked about, started, or ended directly. */
export function callsDoneIn({entries: before, after, settled}: VersionStep, {entries, added}: StepResult): CallDone[] {
  const former = new Map<MessageEntry['origin'], MessageEntry>(
    before.slice(settled).map(entry => [entry.origin, entry]),
  );
  const {agent_id: agent = '', tainted = []} = after.header ?? {};
  const done: CallDone[] = [];
  const results = new Map(added.map(at => [entries[at]?.message.tool_call_id, entries[at]?.message.content ?? '']));
  for (const [i, {origin, message}] of entries.slice(settled).entries()) {
    const at = settled + i;
    const was = former.get(origin)?.message;
    for (const [nth, call] of message.tool_calls?.entries() ?? []) {
      const earlier = was?.tool_calls?.[nth];
      const isNew = call.started !== earlier?.started || call.approval !== earlier?.approval;
      const how = isNew ? howBegun(call) : howEnded(call, results.get(call.id));
      if (how) done.push({at, call, agent, tainted: tainted.length > 0, how});
    }
  }
  return done;
}

function howBegun({started, approval}: Call): CallDone['how'] | undefined {
  // Decisions of people are the subject of `verify`.
  if (started !== undefined) return approval === undefined ? 'ran' : undefined;
  return approval === undefined ? undefined : 'asked';
}

/** Reading calls have no mark; refused calls have a result at once. */
function howEnded(
  {approval, started, function: {name}}: Call,
  result: string | undefined,
): CallDone['how'] | undefined {
  if (result === undefined || approval !== undefined || started !== undefined) return undefined;
  const failed = failureOf(result);
  // Denials by tools or for lack of a sandbox do not depend on the policy.
  if (failed?.code === 'DENIED')
    return /^\w+ is denied: (?!agentdir\.yaml has sandbox)/.test(failed.error ?? '') ? 'refused' : undefined;
  return !failed && effectOf(name) === 'read' ? 'ran' : undefined;
}

/** Undefined on success. */
function failureOf(result: string): {code?: string; error?: string} | undefined {
  try {
    const value = JSON.parse(result) as {success?: unknown; code?: string; error?: string};
    return value.success === false ? value : undefined;
  } catch {
    return undefined;
  }
}

const HOW = {ran: 'ran without asking', asked: 'a person was asked', refused: 'denied'} as const;

/** Compares what was done with the policy, ignoring facts that only the machine knew. */
export function verdictOddity({at, call, agent, tainted, how}: CallDone, home: HomeState): Oddity | undefined {
  const template = templateOf(home, agent);
  if (!template) return undefined;
  const {name: tool, arguments: args} = call.function;
  const isOwn = isCapable(template.capabilities, tool);
  const {verdict, reason} = verdictOf({tool, arguments: args, agent, tainted}, home.policy, home.settings);
  const odd = (replayed: string): Oddity => ({
    at,
    call,
    field: 'verdict',
    what: `the policy would say ${replayed}`,
    recorded: HOW[how],
    replayed,
  });
  if (!isOwn) return how === 'refused' ? undefined : odd(`deny: ${tool} is not among the capabilities of ${agent}`);
  if (how === 'ran' && verdict !== 'allow') return odd(`${verdict}: ${reason}`);
  if (how === 'asked' && verdict === 'deny') return odd(`deny: ${reason}`);
  if (how === 'refused' && verdict !== 'deny') return odd(`${verdict}: ${reason}`);
  return undefined;
}

/** Compares two policies on one call. */
export function changedVerdict(done: CallDone, then: HomeState, now: HomeState): Oddity | undefined {
  const {at, call, agent, tainted, how} = done;
  const about = {tool: call.function.name, arguments: call.function.arguments, agent, tainted};
  const [was, is] = [then, now].map(({policy, settings}) => verdictOf(about, policy, settings));
  if (!was || !is || was.verdict === is.verdict) return verdictOddity(done, now);
  const replayed = `${is.verdict}: ${is.reason}`;
  return {
    at,
    call,
    field: 'verdict',
    what: `the current policy says ${is.verdict}`,
    recorded: `${was.verdict} (${HOW[how]})`,
    replayed,
  };
}
