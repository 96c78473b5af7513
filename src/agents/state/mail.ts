import type {Message, SessionHeader} from '../../formats/session/session-schema.ts';
import type {Clock} from '../../home/disk/clock.ts';

/**
 * Where a letter was delivered. `begun`: its agent has answered since. `at` and `content`: time and text of its message, if known;
 * the text may be of an earlier version of the letter.
 */
export interface DeliveryPlace {
  session: string;
  begun: boolean;
  at?: string | undefined;
  content?: string | null | undefined;
}

/** A message on its way into a session. */
export interface Letter {
  /** Deterministic, so that a letter posted again is delivered once. */
  id: string;
  /** The agent whose session receives it. */
  agent: string;
  message: Pick<Message, 'from' | 'content'> & Partial<Message>;
  /** If the letter was delivered under another id, the content to deliver instead. */
  unless?: (messages: readonly Message[]) => string | undefined;
  /** Header fields for a session that is created for the letter. */
  opening: Partial<SessionHeader>;
  /** The session had errors when the letter was posted: it may belong to another agent, or be completed. */
  unsure?: true | undefined;
  /** One of many: waits until there is room in the session. */
  bulk?: true;
  /** Called once the letter is durable in the session file. */
  delivered: (where: DeliveryPlace) => void;
}

/** How long a session waits for expected letters. */
const PATIENCE_MS = 30_000;

/** Letters to deliver, by session path. Not durable: the sender posts them again after a crash. */
export class Mail {
  readonly #due = new Map<string, Map<string, Letter>>();
  /** Destination session path, by letter id. */
  readonly #to = new Map<string, string>();
  readonly #expected = new Map<string, number>();
  /** Delivered mentions that are still in the session header, by session path. */
  readonly woken = new Map<string, Set<string>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Post a letter. A letter with the same id is replaced, including its destination and callback. */
  post(path: string, letter: Letter): void {
    const before = this.#to.get(letter.id);
    if (before !== undefined && before !== path) this.takeBack(before, letter.id);
    this.#to.set(letter.id, path);
    const letters = this.#due.get(path) ?? new Map<string, Letter>();
    this.#due.set(path, letters.set(letter.id, letter));
  }

  destinationOf(id: string): string | undefined {
    return this.#to.get(id);
  }

  lettersFor(path: string): readonly Letter[] {
    return [...(this.#due.get(path)?.values() ?? [])];
  }

  get(path: string, id: string): Letter | undefined {
    return this.#due.get(path)?.get(id);
  }

  has(path: string): boolean {
    return this.#due.has(path);
  }

  /** Delay the model of this session until the expected letters arrive, or for a while. */
  expect(path: string): void {
    if (!this.#expected.has(path)) this.#expected.set(path, this.#clock.monotonic() + PATIENCE_MS);
  }

  expectNoMore(path: string): void {
    this.#expected.delete(path);
  }

  /** How many milliseconds to wait for more letters before asking the model of this session. */
  expectMs(path: string): number {
    return Math.max(0, (this.#expected.get(path) ?? 0) - this.#clock.monotonic());
  }

  /** Withdraw a letter. False: it is not on its way. */
  takeBack(path: string, id: string): boolean {
    const letters = this.#due.get(path);
    const found = letters?.delete(id) ?? false;
    if (found) this.#to.delete(id);
    if (letters?.size === 0) this.#due.delete(path);
    return found;
  }

  /** Call once the letter is durable in the session file. */
  delivered(path: string, letter: Letter, where: DeliveryPlace): void {
    // The letter may have been replaced or redirected since.
    const to = this.#to.get(letter.id) ?? path;
    const posted = this.#due.get(to)?.get(letter.id) ?? letter;
    if (this.takeBack(to, letter.id)) posted.delivered(where);
  }
}
