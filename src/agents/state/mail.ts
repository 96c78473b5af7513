import type {Message, SessionHeader} from '../../formats/session/session-schema.ts';
import type {Clock} from '../../home/disk/clock.ts';

/** Where a letter was delivered. `begun`: its agent has answered since. `at`: the time of its message, if known. */
export interface DeliveryPlace {
  session: string;
  begun: boolean;
  at?: string | undefined;
}

/** A message on its way into a session. */
export interface Letter {
  /** The same whoever asks for it and how often: it is delivered once. */
  id: string;
  /** Whose session it is for. */
  agent: string;
  message: Pick<Message, 'from' | 'content'> & Partial<Message>;
  /** It may be among these under another id: then this is said of it, and it is not brought again. */
  unless?: (messages: readonly Message[]) => string | undefined;
  /** What a session begins with that is made for it. */
  opening: Partial<SessionHeader>;
  /** The session had errors when it was posted there: it may be another's, or over. */
  unsure?: true | undefined;
  /** One of many: it waits as long as there is no room for it in the session. */
  bulk?: true;
  /** It is in the file, and that is durable. */
  delivered: (where: DeliveryPlace) => void;
}

/** So long a session waits for the rest of what is on its way. */
const PATIENCE_MS = 30_000;

/** What is to be delivered, by the path of the session. None of it is state: whoever posted it posts it again after a crash. */
export class Mail {
  readonly #due = new Map<string, Map<string, Letter>>();
  /** By its id: the session that a letter is on its way to. */
  readonly #to = new Map<string, string>();
  readonly #expected = new Map<string, number>();
  /** Mentions in answers of a session that are delivered, until the session says so: by path. */
  readonly woken = new Map<string, Set<string>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Once for each id, whoever posts it how often: told is the last who did, and it goes where that one says. */
  post(path: string, letter: Letter): void {
    const before = this.#to.get(letter.id);
    if (before !== undefined && before !== path) this.takeBack(before, letter.id);
    this.#to.set(letter.id, path);
    const letters = this.#due.get(path) ?? new Map<string, Letter>();
    this.#due.set(path, letters.set(letter.id, letter));
  }

  /** The session that a letter is on its way to. */
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

  /** More is on its way to this session, so its model is asked when that is there, or after a while. */
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

  /** Nobody wants it delivered any more; false: it is not on its way. */
  takeBack(path: string, id: string): boolean {
    const letters = this.#due.get(path);
    const was = letters?.delete(id) ?? false;
    if (was) this.#to.delete(id);
    if (letters?.size === 0) this.#due.delete(path);
    return was;
  }

  /** It is in the file. */
  delivered(path: string, letter: Letter, where: DeliveryPlace): void {
    // Another may have been posted in its place meanwhile, or to another session.
    const to = this.#to.get(letter.id) ?? path;
    const posted = this.#due.get(to)?.get(letter.id) ?? letter;
    if (this.takeBack(to, letter.id)) posted.delivered(where);
  }
}
