import {deliveriesIn} from '../../formats/session/session-deliveries.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import type {Disk} from '../../home/disk/disk.ts';
import {readHomeFile} from '../../home/read.ts';

/** Older messages of sessions, in segment files. A segment never changes once its session names it, so it is read once. */
export class Segments {
  readonly #disk: Disk;
  readonly #messages = new Map<string, {messages: readonly Message[]; length: number}>();
  readonly #deliveries = new Map<string, ReadonlySet<string>>();
  #length = 0;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** The messages of these segments, oldest first. */
  async messages(paths: readonly string[]): Promise<readonly Message[]> {
    const all: Message[][] = [];
    for (const path of paths) {
      const known = this.#messages.get(path);
      all.push([...(known?.messages ?? (await this.#read(path)))]);
      if (!known) await this.#disk.clock.nextTurn();
    }
    return all.flat();
  }

  /** The delivery ids in each of these segments. */
  async ids(paths: readonly string[]): Promise<readonly ReadonlySet<string>[]> {
    const all: ReadonlySet<string>[] = [];
    for (const path of paths) {
      const known = this.#deliveries.get(path);
      all.push(known ?? this.#readDeliveries(path));
      if (!known) await this.#disk.clock.nextTurn();
    }
    return all;
  }

  /** Call after writing a segment. */
  wrote(path: string, messages: readonly Message[]): void {
    this.#deliveries.set(path, new Set(messages.flatMap(({delivery}) => delivery ?? [])));
    const before = this.#messages.get(path);
    this.#length -= before?.length ?? 0;
    this.#messages.delete(path);
  }

  async #read(path: string): Promise<readonly Message[]> {
    const {parseFile} = await import('../../check/parse-file.ts');
    // Another caller may have read it meanwhile. Nothing below waits.
    const known = this.#messages.get(path);
    if (known) return known.messages;
    const read = readHomeFile(this.#disk, path);
    const parsed = read && 'text' in read ? parseFile(path, read.text) : undefined;
    const messages = parsed?.kind === 'session' ? parsed.file.messages : [];
    const length = read && 'text' in read ? read.text.length : 0;
    this.#messages.set(path, {messages, length});
    this.#length += length;
    for (const [oldest, {length}] of this.#messages) {
      if (this.#length <= MAX_CACHED_CHARACTERS) break;
      this.#messages.delete(oldest);
      this.#length -= length;
    }
    return messages;
  }

  #readDeliveries(path: string): ReadonlySet<string> {
    let text = '';
    try {
      text = this.#disk.read(path).toString();
    } catch {
      // The file was removed: treat it as empty.
    }
    const ids = new Set(deliveriesIn(text));
    this.#deliveries.set(path, ids);
    return ids;
  }
}

const MAX_CACHED_CHARACTERS = 32 * 1024 * 1024;
