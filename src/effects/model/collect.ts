import {randomBytes} from 'node:crypto';
import type {Price} from '../../formats/model-choice.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import type {ModelUsage, Reply, ReplyCall} from './answer.ts';

interface PartialCall {
  id: string;
  name: string;
  arguments: string;
}

/** An answer put together from its pieces, or from one whole. Takes anything a server may send. */
export class ReplyCollector {
  readonly #onText: (delta: string) => void;
  readonly #calls: PartialCall[] = [];
  /** By the number the server gives a call. */
  readonly #byIndex = new Map<unknown, PartialCall>();
  #usage: {input_tokens: number; output_tokens: number} | undefined;
  text = '';
  model: string | undefined;
  finish: string | undefined;
  /** What the server says went wrong, in the midst of its answer. */
  error: unknown;

  constructor(onText: (delta: string) => void) {
    this.#onText = onText;
  }

  /** Characters. */
  get size(): number {
    return this.text.length + this.#calls.reduce((sum, call) => sum + call.arguments.length + call.name.length, 0);
  }

  get isEmpty(): boolean {
    return this.text.trim() === '' && this.#calls.length === 0;
  }

  addChunk(chunk: unknown): void {
    if (!isRecord(chunk)) return;
    if (chunk.error !== undefined && chunk.error !== null) this.error = chunk.error;
    // What is longer is no name; half of one might be half a secret.
    if (typeof chunk.model === 'string' && chunk.model !== '' && chunk.model.length <= 200) this.model = chunk.model;
    this.#usage = usageOf(chunk.usage) ?? this.#usage;
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isRecord(choice)) return;
    if (typeof choice.finish_reason === 'string') this.finish = choice.finish_reason;
    const part = isRecord(choice.delta) ? choice.delta : choice.message;
    if (!isRecord(part)) return;
    for (const text of [textOf(part.content), textOf(part.refusal)]) {
      if (text === '') continue;
      this.text += text;
      this.#onText(text);
    }
    if (Array.isArray(part.tool_calls))
      for (const [index, call] of part.tool_calls.entries()) if (isRecord(call)) this.#takeCall(call, index);
  }

  #takeCall(piece: Record<string, unknown>, position: number): void {
    const index = piece.index ?? position;
    const id = typeof piece.id === 'string' ? piece.id : '';
    let call = this.#byIndex.get(index);
    // Some servers number every call 0; then another id is another call.
    if (!call || (id !== '' && call.id !== '' && id !== call.id)) {
      call = {id, name: '', arguments: ''};
      this.#calls.push(call);
      this.#byIndex.set(index, call);
    }
    if (call.id === '') call.id = id;
    const {name, arguments: text} = isRecord(piece.function) ? piece.function : {name: undefined, arguments: undefined};
    // Some send the whole name with each piece.
    if (typeof name === 'string' && name !== call.name) call.name += name;
    if (typeof text === 'string') call.arguments += text;
    else if (isRecord(text)) call.arguments += JSON.stringify(text);
  }

  reply(asked: string, price: Price | undefined, session: readonly Message[]): Reply {
    // What a filter held back does not come by asking for the rest.
    const filtered = this.finish === 'content_filter';
    const cut = this.finish === 'length';
    const last = this.#calls.at(-1);
    // Cut before its arguments: it must not look like a call without any.
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

/** Ids that are missing, or that the session has already, or that nobody could read, are replaced. */
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

function usageOf(value: unknown): {input_tokens: number; output_tokens: number} | undefined {
  if (!isRecord(value)) return undefined;
  const count = (number: unknown) =>
    typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
  const input = count(value.prompt_tokens);
  const output = count(value.completion_tokens);
  if (input === undefined && output === undefined) return undefined;
  return {input_tokens: input ?? 0, output_tokens: output ?? 0};
}

/** A text, or the texts in a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map(part => (isRecord(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
