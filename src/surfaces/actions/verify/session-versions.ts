import {parseSession, type Session} from '../../../formats/session/session.ts';
import type {Message} from '../../../formats/session/session-schema.ts';

interface Entry {
  session: Session;
  /** Size of all source texts that its messages keep in memory. */
  held: number;
}

/** Parse from scratch when messages hold this many times the size of the file. */
const MOST_TIMES = 12;
const MOST_HELD = 48 * 1024 * 1024;

/** Parses versions incrementally, with bounded memory. */
export class SessionVersions {
  readonly #last = new Map<string, Entry>();
  #held = 0;

  /** `before`: messages of the former version; unchanged ones are the same objects. */
  read(path: string, text: string): {session: Session; before: readonly Message[]} {
    const former = this.#last.get(path);
    this.forget(path);
    const grown = (former?.held ?? 0) + text.length;
    const usable = grown <= MOST_TIMES * text.length ? former?.session : undefined;
    const session = parseSession(text, usable);
    if (session.header) this.#keep(path, {session, held: usable ? grown : text.length});
    return {session, before: usable?.messages ?? []};
  }

  forget(path: string): void {
    this.#held -= this.#last.get(path)?.held ?? 0;
    this.#last.delete(path);
  }

  #keep(path: string, entry: Entry): void {
    this.#last.set(path, entry);
    this.#held += entry.held;
    for (const oldest of this.#last.keys()) {
      if (this.#held <= MOST_HELD) return;
      this.forget(oldest);
    }
  }
}
