import {isId, isTime} from '../common/values.ts';
import {type Call, jsonOf, type Message, roles, type SessionHeader} from './session-schema.ts';
import {sessionStatuses} from './session-status.ts';

/**
 * The result of `messageSchema` for a value with known keys of the right form only; undefined for anything else, which
 * is left to the schema. Speeds up the start, when ten thousand sessions are read. A test compares it with the schema.
 */
export function quickMessage(value: unknown): Message | undefined {
  const found = pick(value, message) as Message | undefined;
  if (!found?.role) return undefined;
  const {role, content, tool_calls, tool_call_id} = found;
  const answers = role === 'assistant' && (tool_calls?.length ?? 0) > 0;
  if (typeof content !== 'string' && !answers) return undefined;
  return role === 'tool_result' && tool_call_id === undefined ? undefined : found;
}

export function quickHeader(value: unknown): SessionHeader | undefined {
  const found = pick(value, header) as SessionHeader | undefined;
  return found?.agent_id ? found : undefined;
}

/** The value as the schema would return it; undefined if it may be invalid. */
type Form = (value: unknown) => unknown;

const text: Form = value => (typeof value === 'string' ? value : undefined);
const textOrJson: Form = value => text(jsonOf(value));
const some: Form = value => (typeof value === 'string' && value !== '' ? value : undefined);
const flag: Form = value => (typeof value === 'boolean' ? value : undefined);
const time: Form = value => (typeof value === 'string' && isTime(value) ? value : undefined);
const id: Form = value => (typeof value === 'string' && isId(value) ? value : undefined);
const tokens: Form = value => (Number.isSafeInteger(value) && (value as number) >= 0 ? value : undefined);
const money: Form = value => (Number.isFinite(value) && (value as number) >= 0 ? value : undefined);
const one = (words: readonly string[]): Form => {
  const known = new Set<unknown>(words);
  return value => (known.has(value) ? value : undefined);
};
const list = (form: Form): Form => {
  return value => {
    if (!Array.isArray(value)) return undefined;
    const found = value.map(form);
    if (found.includes(undefined)) return undefined;
    return found.every((item, i) => item === value[i]) ? value : found;
  };
};

/** In the order of the schema, which is the order of its output. */
type Shape = readonly (readonly [key: string, form: Form])[];

const toolFunction: Shape = [
  ['name', some],
  ['arguments', textOrJson],
];
const call: Shape = [
  ['id', some],
  ['type', one(['function'])],
  ['function', value => whole(pick(value, toolFunction), 'name', 'arguments')],
  ['approval', id],
  ['started', time],
  ['run', text],
  ['where', text],
  ['child', id],
];
const usage: Shape = [
  ['input_tokens', tokens],
  ['output_tokens', tokens],
  ['cost_usd', money],
  ['estimated', flag],
];
const message: Shape = [
  ['timestamp', time],
  ['role', one(roles)],
  ['from', text],
  ['content', value => (value === null ? null : textOrJson(value))],
  ['model', text],
  ['usage', value => pick(value, usage)],
  ['cut', flag],
  ['tool_calls', list(value => whole(pick(value, call) as Call | undefined, 'id', 'function'))],
  ['tool_call_id', text],
  ['delivery', text],
  ['untrusted', flag],
  ['pin', flag],
];
const header: Shape = [
  ['session_id', id],
  ['agent_id', some],
  ['agent_type', text],
  ['model', text],
  ['system_prompt', text],
  ['created', time],
  ['updated', time],
  ['status', one(sessionStatuses)],
  ['error', text],
  ['waiting_for', id],
  ['tainted', list(text)],
  ['shared', flag],
  ['segments', list(text)],
];

function pick(value: unknown, shape: Shape): Record<string, unknown> | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const from = value as Record<string, unknown>;
  const same = inOrder(from, shape);
  if (same) return from;
  const found: Record<string, unknown> = {};
  let known = 0;
  for (const [key, form] of shape) {
    if (!Object.hasOwn(from, key)) continue;
    const item = form(from[key]);
    if (item === undefined) return undefined;
    found[key] = item;
    known++;
  }
  return known === Object.keys(from).length ? found : undefined;
}

/** Whether the value equals the schema's output, including key order. */
function inOrder(from: Record<string, unknown>, shape: Shape): boolean {
  let at = 0;
  for (const key in from) {
    while (at < shape.length && shape[at]?.[0] !== key) at++;
    const item = from[key];
    if (item === undefined || shape[at]?.[1](item) !== item) return false;
  }
  return true;
}

function whole<T extends object>(value: T | undefined, ...keys: string[]): T | undefined {
  return value && keys.every(key => Object.hasOwn(value, key)) ? value : undefined;
}
