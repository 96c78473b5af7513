import type {ContextVersion, Message} from '../formats/session/session-schema.ts';
import type {ChatMessage} from './chat.ts';

/** For texts that no server has counted yet: rather too many tokens than too few. */
const CHARACTERS_PER_TOKEN = 3.5;
/** Some servers report constants, or count what they have cached as nothing. */
const [LEAST, MOST] = [1, 4];
const STEPS = 4;

const sizes = new WeakMap<object, number>();

/** The size of a value within a request, in bytes of JSON. Call it with values that do not change. */
export function sizeOf(value: ChatMessage | object): number {
  let size = sizes.get(value);
  if (size === undefined) {
    size = Buffer.byteLength(JSON.stringify(value)) + 1;
    sizes.set(value, size);
  }
  return size;
}

const messageSizes = new WeakMap<Message, number>();
/** Role, sender and fence, at most. */
const [AROUND, AROUND_DATA] = [60, 220];

/** About the size of a message of a session within a request. */
export function messageSize(message: Message): number {
  let size = messageSizes.get(message);
  if (size === undefined) {
    const {content, tool_calls = [], untrusted, from} = message;
    const calls = tool_calls.map(({id, function: {name, arguments: args}}) => [id, name, args]);
    const around = untrusted || from?.startsWith('inbox/') ? AROUND_DATA : AROUND;
    size = Buffer.byteLength(JSON.stringify([content ?? '', calls])) + around * (1 + calls.length);
    messageSizes.set(message, size);
  }
  return size;
}

/**
 * Characters per token, from the last answer since the checkpoint whose server counted what it was sent. `before`: the size
 * of everything that is sent before the messages.
 */
export function charactersPerToken(
  messages: readonly Message[],
  checkpoint: ContextVersion | undefined,
  before: number,
): number {
  const known = checkpoint?.characters_per_token ?? CHARACTERS_PER_TOKEN;
  const created = checkpoint?.created ?? '';
  const at = messages.findLastIndex(({role, usage}) => role === 'assistant' && (usage?.input_tokens ?? 0) > 0);
  const {usage, timestamp = ''} = messages[at] ?? {};
  if (!usage?.input_tokens || usage.estimated || timestamp < created) return known;
  let size = before;
  for (let i = 0; i < at; i++) size += messageSize(messages[i] as Message);
  // In steps, so that the same results stay pointers from turn to turn.
  return Math.min(MOST, Math.max(LEAST, Math.floor((size / usage.input_tokens) * STEPS) / STEPS));
}
