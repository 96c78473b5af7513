import type {Message} from '../../../formats/session/session-schema.ts';
import {isRecordedMessage, type MessageEntry, type MessageOrigin, printOf, recordedMessageKey} from './entry.ts';

/** All recorded messages of all files, so that merges, reverts, renames and copies are recognised. */
export class Ledger {
  readonly #byPrint = new Map<string, MessageOrigin>();
  readonly #byName = new Map<string, MessageOrigin>();

  /** Returns the first origin of the message. */
  record(message: Message, origin: MessageOrigin): MessageOrigin {
    if (!isRecordedMessage(message)) return origin;
    const known = this.#byPrint.get(origin.print);
    if (known) return known;
    this.#byPrint.set(origin.print, origin);
    const name = recordedMessageKey(message);
    if (name !== undefined && !this.#byName.has(name)) this.#byName.set(name, origin);
    return origin;
  }

  /** The entry of a message that a person wrote or restored. */
  entryFor(message: Message, as: MessageOrigin): MessageEntry {
    const print = printOf(message);
    const same = isRecordedMessage(message) ? this.#byPrint.get(print) : undefined;
    if (same) return {message, print, origin: same, edits: []};
    const other = isRecordedMessage(message) ? this.#byName.get(recordedMessageKey(message) ?? '') : undefined;
    if (other) return {message, print, origin: other, edits: [as.by]};
    // If the session moves, this is where it comes from.
    if (isRecordedMessage(message)) this.#byPrint.set(print, as);
    return {message, print, origin: as, edits: []};
  }

  has(print: string): boolean {
    return this.#byPrint.has(print);
  }
}
