import type {ChannelEntry} from '../../formats/channel.ts';
import type {Run} from '../../formats/run.ts';
import type {Chain} from '../../formats/session/chain.ts';
import type {Disk} from '../../home/disk/disk.ts';

/** An entry to append to a channel. The same entry is written once, however often it is posted. */
export interface ChannelPost extends Pick<ChannelEntry, 'time' | 'from' | 'text'> {
  /** The agent that writes it, as the author of the commit. */
  agent: string | undefined;
  /** Called with the number of the entry, once it is durable. */
  written: (n: number) => void;
}

export type EditedDocument = {text: string; merged: boolean} | {failed: string};

/** A change of a document by an agent. */
export interface DocumentEdit {
  agent: string;
  edit: (current: string) => EditedDocument;
  written: (result: EditedDocument) => void;
}

/** A change of a run.yaml. */
export interface RunChange {
  apply: (run: Run) => Run;
  words: string;
  written: () => void;
}

/** Changes that are not written yet, by path. */
class Due<T> {
  readonly #due = new Map<string, T[]>();

  add(path: string, change: T): void {
    this.#due.set(path, [...this.get(path), change]);
  }

  get(path: string): readonly T[] {
    return this.#due.get(path) ?? [];
  }

  /** False: it was not due any more. */
  remove(path: string, change: T): boolean {
    const rest = this.get(path).filter(each => each !== change);
    const found = rest.length < this.get(path).length;
    if (rest.length > 0) this.#due.set(path, rest);
    else this.#due.delete(path);
    return found;
  }
}

/** Where the texts of contexts with `provider: memory` are mirrored, so that commands can show them. */
const MEMORY = '.agentdir/contexts';

/** What the daemon knows of workflow instances beyond their files. */
export class Workflows {
  readonly posts = new Due<ChannelPost>();
  readonly edits = new Due<DocumentEdit>();
  readonly changes = new Due<RunChange>();
  /** Chains of entries that agents wrote, by path and head, for the messages that follow from them. */
  readonly chains = new Map<string, Chain>();
  readonly #memory = new Map<string, string>();
  readonly #disk: Disk;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** A text of a context with `provider: memory`; `path` is where it would be as a file. */
  memoryText(path: string): string {
    const known = this.#memory.get(path);
    if (known !== undefined) return known;
    const mirror = memoryPath(path);
    const text = this.#disk.exists(mirror) ? this.#disk.read(mirror).toString() : '';
    this.#memory.set(path, text);
    return text;
  }

  setMemoryText(path: string, text: string): void {
    this.#memory.set(path, text);
    const mirror = memoryPath(path);
    this.#disk.makeDirectory(mirror.slice(0, mirror.lastIndexOf('/')));
    this.#disk.write(mirror, text);
  }
}

/** `.workflow/pr-123/channel.md` → its mirror in `.agentdir/`. */
export function memoryPath(path: string): string {
  return `${MEMORY}/${path.slice('.workflow/'.length)}`;
}
