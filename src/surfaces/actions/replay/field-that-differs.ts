import type {Call, Message} from '../../../formats/session/session-schema.ts';
import type {Path} from '../../../formats/yaml/yaml-source.ts';
import {fieldsOf} from './entry.ts';

export interface FieldDifference {
  field: string;
  /** Path within the message. */
  part: Path;
  call: number | undefined;
  recorded: string;
  replayed: string;
}

/** The first field that differs between two messages. */
export function fieldThatDiffers(recorded: Message | undefined, now: Message | undefined): FieldDifference {
  const [a, b] = [recorded, now].map(message => (message ? fieldsOf(message) : {}));
  const whole = {field: 'message', part: ['role'], call: undefined};
  if (!recorded || !now) return {...whole, recorded: text(a?.content), replayed: text(b?.content)};
  const calls = recorded.tool_calls ?? [];
  for (const key of [
    'role',
    'tool_call_id',
    'content',
    'tool_calls',
    'timestamp',
    'model',
    'usage',
    'cut',
    'delivery',
  ]) {
    if (text(a?.[key]) === text(b?.[key])) continue;
    const at =
      key === 'tool_calls' ? calls.findIndex((call, i) => callText(call) !== callText(now.tool_calls?.[i])) : -1;
    if (at === -1)
      return {field: key, part: [key], call: undefined, recorded: text(a?.[key]), replayed: text(b?.[key])};
    const [was, is] = [calls[at], now.tool_calls?.[at]];
    const part = was?.id !== is?.id ? 'id' : was?.function.name !== is?.function.name ? 'name' : 'arguments';
    const of = (call: Call | undefined) => (part === 'id' ? call?.id : call?.function[part]) ?? 'nothing';
    const place: Path = ['tool_calls', at, ...(part === 'id' ? [part] : ['function', part])];
    return {field: `tool_calls[${at}].${part}`, part: place, call: at, recorded: of(was), replayed: of(is)};
  }
  return {...whole, recorded: '', replayed: ''};
}

function callText(call: Call | undefined): string {
  return JSON.stringify([call?.id, call?.function.name, call?.function.arguments]);
}

function text(value: unknown): string {
  return value === undefined ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value);
}
