import {isMap} from '../../formats/common/values.ts';
import type {Playbook, PlaybookRule} from '../../formats/playbook.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import {looseMatch} from '../../policy/command/words.ts';
import type {Answer, ModelRequest} from './answer.ts';
import {newCallId} from './collect.ts';

/** A rule's pattern sees this many characters of a message; a pattern may take quadratic time. */
const MAX_MATCHED_TEXT = 100_000;

const noRule = `No rule of a playbook matches this message. I am the built-in playbook, a script and not an AI. To talk to an AI,
set an API key where the daemon is started, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, and restart the daemon.`;

interface Words {
  say: string;
  calls: {name: string; arguments: string}[];
}

/** The built-in model: the first rule that matches the last message answers. Its only state is the session. */
export function askPlaybook(request: ModelRequest, playbooks: readonly Playbook[]): Answer {
  if (request.signal.aborted) return {aborted: true};
  const {session, agent} = request;
  const {say, calls} = firstMatch(playbooks, session, agent) ?? {say: noRule, calls: []};
  for (const word of say.match(/\s*\S+\s*/g) ?? []) request.onText(word);
  return {
    reply: {
      content: say === '' ? null : say,
      calls: calls.map(call => ({id: newCallId(), ...call})),
      model: 'playbook',
      usage: undefined,
      cut: false,
    },
  };
}

function firstMatch(playbooks: readonly Playbook[], session: readonly Message[], agent: string): Words | undefined {
  for (const {rules} of playbooks) {
    for (const rule of rules) {
      const words = answerOf(rule, session, session.length, agent);
      if (words && !(rule.once && answeredBefore(rule, session, agent))) return words;
    }
  }
  return undefined;
}

/** Answer of a rule to the first `length` messages; undefined if the rule does not match. */
function answerOf(rule: PlaybookRule, session: readonly Message[], length: number, agent: string): Words | undefined {
  const message = session[length - 1];
  const captures = capturesOf(rule.when, message, session, length, agent);
  if (!captures) return undefined;
  const text = message?.content ?? '';
  const values = {text, list: listIn(text), agent, ...captures};
  const say = fill(rule.say ?? '', values).trimEnd();
  const calls = (rule.call ?? []).map(call => ({
    name: call.tool,
    arguments: JSON.stringify(fillAll(call.arguments ?? {}, values)),
  }));
  if (say === '' && calls.length === 0)
    return {say: `(The rule "${rule.name ?? ''}" has nothing to say to this.)`, calls};
  return {say, calls};
}

function capturesOf(
  when: PlaybookRule['when'],
  message: Message | undefined,
  session: readonly Message[],
  length: number,
  agent: string,
): Record<string, string> | undefined {
  if (!when) return {};
  if (when.agent !== undefined && !looseMatch(when.agent, agent)) return undefined;
  const role = when.role ?? 'user';
  if (role !== 'any' && message?.role !== role) return undefined;
  if (when.from !== undefined && (message?.role !== 'user' || !looseMatch(when.from, message.from ?? 'human')))
    return undefined;
  if (when.tool !== undefined && when.tool !== toolOf(message, session, length)) return undefined;
  if (when.success !== undefined && when.success !== successOf(message)) return undefined;
  if (when.text === undefined) return {};
  const match = patternOf(when.text).exec((message?.content ?? '').slice(0, MAX_MATCHED_TEXT));
  if (!match) return undefined;
  const groups = {...Object.fromEntries(match.entries()), ...match.groups};
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, value ?? '']));
}

/** The first list in a tool result, one item a line; without a list, the result as it is. */
function listIn(result: string): string {
  try {
    const value: unknown = JSON.parse(result);
    const list = isMap(value) ? Object.values(value).find(Array.isArray) : value;
    if (!Array.isArray(list)) return result;
    return list.length === 0 ? '(none)' : list.map(item => `- ${itemWords(item)}`).join('\n');
  } catch {
    return result;
  }
}

/** `{id: coder, type: x, description: Writes code}` → `coder: Writes code` */
function itemWords(item: unknown): string {
  if (!isMap(item)) return typeof item === 'string' ? item : JSON.stringify(item);
  const {id, name = id, title, description = title, state, status = state} = item;
  const words = [description, status].filter(value => typeof value === 'string');
  if (typeof name !== 'string') return words.length > 0 ? words.join(', ') : JSON.stringify(item);
  return words.length > 0 ? `${name}: ${words.join(', ')}` : name;
}

const patterns = new Map<string, RegExp>();

function patternOf(source: string): RegExp {
  let pattern = patterns.get(source);
  if (!pattern) {
    if (patterns.size > 1000) patterns.clear();
    pattern = new RegExp(source, 'iu');
    patterns.set(source, pattern);
  }
  return pattern;
}

/** Name of the tool that produced a result message. */
function toolOf(message: Message | undefined, session: readonly Message[], length: number): string | undefined {
  if (message?.role !== 'tool_result') return undefined;
  for (let index = length - 1; index >= 0; index--) {
    const call = session[index]?.tool_calls?.find(({id}) => id === message.tool_call_id);
    if (call) return call.function.name;
  }
  return undefined;
}

function successOf(message: Message | undefined): boolean | undefined {
  if (message?.role !== 'tool_result') return undefined;
  try {
    const result: unknown = JSON.parse(message.content ?? '');
    return isMap(result) && typeof result.success === 'boolean' ? result.success : undefined;
  } catch {
    return undefined;
  }
}

function answeredBefore(rule: PlaybookRule, session: readonly Message[], agent: string): boolean {
  return session.some((message, index) => {
    if (message.role !== 'assistant' || message.model !== 'playbook') return false;
    const words = answerOf(rule, session, index, agent);
    const made = message.tool_calls ?? [];
    return (
      words !== undefined &&
      words.say === (message.content ?? '').trimEnd() &&
      words.calls.length === made.length &&
      words.calls.every((call, at) => call.name === made[at]?.function.name)
    );
  });
}

/** Replace `{{ name }}` for known names; leave other braces alone. */
function fill(text: string, values: Record<string, string>): string {
  return text.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}

function fillAll(value: unknown, values: Record<string, string>): unknown {
  if (typeof value === 'string') return fill(value, values);
  if (Array.isArray(value)) return value.map(item => fillAll(item, values));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillAll(item, values)]));
}
