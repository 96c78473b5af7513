import type {TaskNews} from '../../decide/task.ts';
import type {ToolFailure} from '../../effects/tool/tool.ts';
import type {TaskFile} from '../../formats/task/task.ts';

/** The file with a change, and what the journal says of it. */
export interface EditedTaskFile {
  text: string;
  words: string;
  tasks: readonly string[];
}

/** A change that an agent makes to a task file. */
export interface AgentTaskEdit {
  agent: string;
  /** Called with the file as it is then. Undefined: it is so already. A failure is what the agent is told. */
  make: (file: TaskFile) => EditedTaskFile | ToolFailure | undefined;
  finished: (failed?: ToolFailure) => void;
}

/** News of a task. `heard`: its session has reported since this daemon started. */
export type ReportedTaskNews = TaskNews & {heard?: boolean};

/** What is known of tasks beyond their files, by `attemptKey`. All of it follows again from sessions and the queue. */
export class Tasks {
  /** What agents change in task files, by path. */
  readonly edits = new Map<string, readonly AgentTaskEdit[]>();
  /** What answers said of tasks and is being written to their files, by the path of the session. */
  readonly ending = new Map<string, Map<string, 'under way' | 'over'>>();
  readonly #news = new Map<string, ReportedTaskNews>();
  /** Ids of tasks under way, as long as their files have them. */
  readonly #met = new Set<string>();
  /**
   * Sessions at rest, by path, of which is to be asked once more what becomes of their tasks: they ended their turn while the
   * file of one was not there, or whom they waited for is at rest, too.
   */
  readonly askAgain = new Set<string>();
  /** Sessions at work, by path, and those at rest that wait for them. */
  readonly #waiting = new Map<string, Set<string>>();

  get(key: string): ReportedTaskNews | undefined {
    return this.#news.get(key);
  }

  addNews(key: string, news: ReportedTaskNews): void {
    this.#news.set(key, {...this.#news.get(key), ...news});
  }

  /** Remember that a task is under way. Returns true if it was not known to be. */
  noteUnderWay(id: string): boolean {
    return this.#met.size !== this.#met.add(id).size;
  }

  /** Forget a task that no file has. */
  noteMissing(id: string): void {
    this.#met.delete(id);
  }

  /** `path` waits as long as `other` is at work. */
  waitFor(other: string, path: string): void {
    this.#waiting.set(other, (this.#waiting.get(other) ?? new Set()).add(path));
  }

  isWaitedFor(path: string): boolean {
    return this.#waiting.has(path);
  }

  /** Those that waited for this one, once. */
  takeWaiting(path: string): Iterable<string> {
    const waiting = this.#waiting.get(path) ?? [];
    this.#waiting.delete(path);
    return waiting;
  }

  /** Its file says all of it. */
  forget(key: string): void {
    this.#news.delete(key);
  }
}
