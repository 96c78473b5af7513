import type {Message} from './session-schema.ts';

/** Shorter conversations are always summed up whole. */
const LONG = 128;
/** The last messages may still change: calls get marks, and results and answers go above new messages. */
const UNSETTLED = 32;

/**
 * Caches a fold over the settled part of a conversation from version to version: each version contains the messages of
 * the previous one, so a turn costs only what it adds. Compares messages by identity. A conversation that was edited
 * further up is folded from its start.
 *
 *     const words = new SettledPrefix(() => ({count: 0}), (sum, {content}) => void (sum.count += wordsIn(content)));
 *     const {state, count} = words.of(messages); // of the first `count` messages; the caller adds the others to a copy
 */
export class SettledPrefix<S> {
  readonly #start: () => S;
  readonly #add: (state: S, message: Message, index: number, messages: readonly Message[]) => void;
  /** By the first message of a conversation. */
  readonly #known = new WeakMap<Message, {messages: readonly Message[]; count: number; state: S}>();

  constructor(start: () => S, add: (state: S, message: Message, index: number, messages: readonly Message[]) => void) {
    this.#start = start;
    this.#add = add;
  }

  /** The caller must not modify the state. */
  of(messages: readonly Message[]): {state: S; count: number} {
    const first = messages[0];
    if (!first || messages.length < LONG) return {state: this.#start(), count: 0};
    const until = messages.length - UNSETTLED;
    const known = this.#known.get(first);
    if (known?.messages === messages) return known;
    const isKept = known && known.count <= until && isPrefix(known.messages, known.count, messages);
    const state = isKept ? known.state : this.#start();
    for (let i = isKept ? known.count : 0; i < until; i++) this.#add(state, messages[i] as Message, i, messages);
    this.#known.set(first, {messages, count: until, state});
    return {state, count: until};
  }
}

/** Whether `now` begins with the first `count` messages of `before`. Caches the last result for repeated questions. */
function isPrefix(before: readonly Message[], count: number, now: readonly Message[]): boolean {
  if (before === last.before && now === last.now && count <= last.same) return true;
  for (let i = 0; i < count; i++) if (before[i] !== now[i]) return false;
  last = {before, now, same: count};
  return true;
}

const NOBODY: readonly Message[] = [];
let last = {before: NOBODY, now: NOBODY, same: 0};
