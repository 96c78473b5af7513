import {randomBytes} from 'node:crypto';
import {isMap} from '../../formats/common/values.ts';
import type {Price} from '../../formats/model-choice.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import type {ModelRequest, ModelUsage, Reply, ReplyCall} from './answer.ts';

interface PartialCall {
  id: string;
  name: string;
  arguments: string;
}

/** Assembles an answer from streamed chunks or from one complete body. Accepts anything a server may send. */
export class ReplyCollector {
  readonly #onText: (delta: string) => void;
  readonly #calls: PartialCall[] = [];
  /** Calls by the index that the server gives them. */
  readonly #byIndex = new Map<unknown, PartialCall>();
  #usage: {input_tokens: number; output_tokens: number} | undefined;
  text = '';
  model: string | undefined;
  finish: string | undefined;
  /** An error that the server reported in the middle of its answer. */
  error: unknown;

  constructor(onText: (delta: string) => void) {
    this.#onText = onText;
  }

  /** In characters. */
  get size(): number {
    return this.text.length + this.#calls.reduce((sum, call) => sum + call.arguments.length + call.name.length, 0);
  }

  get isEmpty(): boolean {
    return this.text.trim() === '' && this.#calls.length === 0;
  }

  addChunk(chunk: unknown): void {
    if (!isMap(chunk)) return;
    if (chunk.error !== undefined && chunk.error !== null) this.error = chunk.error;
    // Anything longer is no model name, and cutting it might leave half a secret.
    if (typeof chunk.model === 'string' && chunk.model !== '' && chunk.model.length <= 200) this.model = chunk.model;
    this.#usage = usageOf(chunk.usage) ?? this.#usage;
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isMap(choice)) return;
    if (typeof choice.finish_reason === 'string') this.finish = choice.finish_reason;
    const part = isMap(choice.delta) ? choice.delta : choice.message;
    if (!isMap(part)) return;
    for (const text of [textOf(part.content), textOf(part.refusal)]) {
      if (text === '') continue;
      this.text += text;
      this.#onText(text);
    }
    if (Array.isArray(part.tool_calls))
      for (const [index, call] of part.tool_calls.entries()) if (isMap(call)) this.#addCall(call, index);
  }

  #addCall(piece: Record<string, unknown>, position: number): void {
    const index = piece.index ?? position;
    const id = typeof piece.id === 'string' ? piece.id : '';
    let call = this.#byIndex.get(index);
    // Some servers give every call the index 0; a new id then means a new call.
    if (!call || (id !== '' && call.id !== '' && id !== call.id)) {
      call = {id, name: '', arguments: ''};
      this.#calls.push(call);
      this.#byIndex.set(index, call);
    }
    if (call.id === '') call.id = id;
    const {name, arguments: text} = isMap(piece.function) ? piece.function : {name: undefined, arguments: undefined};
    // Some servers repeat the whole name in each chunk.
    if (typeof name === 'string' && name !== call.name) call.name += name;
    if (typeof text === 'string') call.arguments += text;
    else if (isMap(text)) call.arguments += JSON.stringify(text);
  }

  reply(asked: string, price: Price | undefined, session: readonly Message[]): Reply {
    // Asking for the rest does not bring back filtered content, so a filtered answer does not count as cut.
    const filtered = this.finish === 'content_filter';
    const cut = this.finish === 'length';
    const last = this.#calls.at(-1);
    // A call cut before its arguments must not look like a call without arguments.
    if ((cut || filtered) && last && last.arguments.trim() === '') last.arguments = '{';
    return {
      content: this.text.trim() === '' ? null : this.text,
      calls: withOwnIds(this.#calls, session),
      model: this.model ?? asked,
      usage: this.#usage && withCost(this.#usage, price),
      cut,
    };
  }
}

export function newCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`;
}

/** Replace ids that are missing, too long, or already used in the session. */
function withOwnIds(calls: readonly PartialCall[], session: readonly Message[]): ReplyCall[] {
  if (calls.length === 0) return [];
  const used = new Set<string>();
  for (const {tool_calls} of session) if (tool_calls) for (const {id} of tool_calls) used.add(id);
  return calls.map(call => {
    const id = call.id === '' || call.id.length > 200 || used.has(call.id) ? newCallId() : call.id;
    used.add(id);
    return {id, name: call.name === '' ? 'unknown' : call.name, arguments: call.arguments};
  });
}

function withCost(usage: {input_tokens: number; output_tokens: number}, price: Price | undefined): ModelUsage {
  if (!price) return usage;
  const cost = (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1e6;
  return {...usage, cost_usd: Number(cost.toFixed(8))};
}

const CHARACTERS_PER_TOKEN = 4;

/** Estimate the usage of a turn whose server reported none, or zero, so that limits still apply. Reported numbers stay. */
export function estimateUsage(
  {messages, tools}: Pick<ModelRequest, 'messages' | 'tools'>,
  reply: Reply,
  price: Price | undefined,
): ModelUsage {
  const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN);
  const usage = {
    input_tokens: reply.usage?.input_tokens || tokens([messages, tools]),
    output_tokens: reply.usage?.output_tokens || tokens([reply.content, reply.calls]),
  };
  const cost = price && (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1e6;
  return {...usage, ...(cost !== undefined && {cost_usd: Number(cost.toFixed(6))}), estimated: true};
}

/** Whether the server reported what it counted. No request has no tokens, and no answer has. */
export function isCounted({usage}: Reply): boolean {
  return usage !== undefined && usage.input_tokens > 0 && usage.output_tokens > 0;
}

function usageOf(value: unknown): {input_tokens: number; output_tokens: number} | undefined {
  if (!isMap(value)) return undefined;
  const count = (number: unknown) =>
    typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
  const input = count(value.prompt_tokens);
  const output = count(value.completion_tokens);
  if (input === undefined && output === undefined) return undefined;
  return {input_tokens: input ?? 0, output_tokens: output ?? 0};
}

/** Join the text parts of a content list; a plain string is returned as is. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map(part => (isMap(part) && typeof part.text === 'string' ? part.text : '')).join('');
}
