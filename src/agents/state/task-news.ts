import type {TaskNews} from '../../decide/task.ts';
import type {ToolFailure} from '../../effects/tool/tool.ts';
import type {TaskFile} from '../../formats/task/task.ts';

/** A changed task file and its journal entry. */
export interface EditedTaskFile {
  text: string;
  words: string;
  tasks: readonly string[];
}

/** A change that an agent makes to a task file. */
export interface AgentTaskEdit {
  agent: string;
  /** Edits the current file. Undefined: nothing to change. A failure is returned to the agent. */
  make: (file: TaskFile) => EditedTaskFile | ToolFailure | undefined;
  finished: (failed?: ToolFailure) => void;
}

/** News of a task. `heard`: its session has reported since this daemon started. */
export type ReportedTaskNews = TaskNews & {heard?: boolean};

/** State of tasks that no file holds, by `attemptKey`. Can be rebuilt from sessions and the queue. */
export class Tasks {
  /** Edits by agents that are not written yet, by path. */
  readonly edits = new Map<string, readonly AgentTaskEdit[]>();
  /** Progress of writing `tasks_due` to task files, by session path. */
  readonly ending = new Map<string, Map<string, 'under way' | 'over'>>();
  /** The last notice to the agent of a task about a change in it: letter ids by `attemptKey`. */
  readonly notices = new Map<string, string>();
  readonly #news = new Map<string, ReportedTaskNews>();
  /** Ids of tasks in progress, as long as a file has them. */
  readonly #met = new Set<string>();
  /**
   * Paths of sessions at rest whose last answer must be followed up again: a task was in no file when they answered, or
   * the session they waited for is at rest now.
   */
  readonly askAgain = new Set<string>();
  /** Paths of sessions at work and of task files, each with the sessions at rest that wait for a change of it. */
  readonly #waiting = new Map<string, Set<string>>();

  get(key: string): ReportedTaskNews | undefined {
    return this.#news.get(key);
  }

  addNews(key: string, news: ReportedTaskNews): void {
    this.#news.set(key, {...this.#news.get(key), ...news});
  }

  /** Remember that a task is in progress. Returns true if this is new. */
  noteUnderWay(id: string): boolean {
    return this.#met.size !== this.#met.add(id).size;
  }

  /** Forget a task that no file has. */
  noteMissing(id: string): void {
    this.#met.delete(id);
  }

  /** `path` waits until the session `other` is at rest, or the task file `other` changes. */
  waitFor(other: string, path: string): void {
    this.#waiting.set(other, (this.#waiting.get(other) ?? new Set()).add(path));
  }

  isWaitedFor(path: string): boolean {
    return this.#waiting.has(path);
  }

  /** Remove and return the sessions that wait for this one. */
  takeWaiting(path: string): Iterable<string> {
    const waiting = this.#waiting.get(path) ?? [];
    this.#waiting.delete(path);
    return waiting;
  }

  /** Call once the task file has all news. */
  forget(key: string): void {
    this.#news.delete(key);
    this.notices.delete(key);
  }
}
