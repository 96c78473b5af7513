import {align, alignEnds, type Match, noMatch, type Pass} from '../common/align.ts';
import {fieldOf, type Task, type TaskFile} from './task.ts';

/** Deeper nesting is matched by title alone, to limit the number of passes. */
const LEVELS = 8;

/**
 * Match tasks of two versions of a file: by equal lines, by id, by title (in order if repeated), and finally by place
 * if something is equal. Tasks with different ids never match.
 */
export function matchTasks(from: TaskFile, to: TaskFile): Match {
  const match = noMatch(from.tasks.length, to.tasks.length);
  alignEnds(match, (i, j) => linesOf(from, i) === linesOf(to, j));
  const [before, after] = [sideOf(from), sideOf(to)];
  align(match, {...sameLines(from, before, to, after, match), even: true});
  align(match, {from: i => before.id(i), to: j => after.id(j), even: true});
  const like = (i: number, j: number) => !(before.id(i) && after.id(j));
  /** Tasks of one level with the same parent. */
  const atLevel = (level: number, words: (task: Task) => string) => ({
    from: (i: number) => {
      const above = before.parent[i] as number;
      const parent = above === -1 ? 'none' : match.to[above];
      return before.level[i] !== level || parent === -1 ? undefined : `${parent} ${words(from.tasks[i] as Task)}`;
    },
    to: (j: number) => {
      const above = after.parent[j] as number;
      if (after.level[j] !== level) return undefined;
      return `${above === -1 ? 'none' : above} ${words(to.tasks[j] as Task)}`;
    },
  });
  const deepest = Math.min(LEVELS, before.deepest);
  for (let level = 0; level <= deepest; level++) {
    const titles = atLevel(level, task => task.title);
    align(match, {...titles, like, even: true});
    align(match, {...titles, like, gaps: true});
  }
  const anywhere = {from: (i: number) => from.tasks[i]?.title, to: (j: number) => to.tasks[j]?.title, like};
  align(match, anywhere);
  for (let level = 0; level <= deepest; level++)
    align(match, {
      ...atLevel(level, () => ''),
      gaps: true,
      even: true,
      like: (i, j) => like(i, j) && alike(from, i, to, j),
    });
  return match;
}

interface Side {
  parent: Int32Array;
  level: Int32Array;
  deepest: number;
  id(index: number): string | undefined;
}

function sideOf({tasks}: TaskFile): Side {
  const [parent, level] = [new Int32Array(tasks.length).fill(-1), new Int32Array(tasks.length)];
  let deepest = 0;
  const indices = new Map<Task, number>();
  for (const [i, task] of tasks.entries()) {
    if (task.children.length > 0) indices.set(task, i);
    const above = task.parent ? (indices.get(task.parent) ?? -1) : -1;
    parent[i] = above;
    level[i] = above === -1 ? 0 : (level[above] as number) + 1;
    deepest = Math.max(deepest, level[i] as number);
  }
  return {parent, level, deepest, id: i => fieldOf(tasks[i] as Task, 'id')};
}

/** Lines of a task down to its first child. */
function linesOf({text, tasks}: TaskFile, index: number): string {
  const task = tasks[index] as Task;
  return text.slice(task.start, task.children[0]?.start ?? task.end);
}

/** Keys are equal for equal lines under parents with equal lines, up to the top or to a matched parent. */
function sameLines(from: TaskFile, before: Side, to: TaskFile, after: Side, match: Match): Pick<Pass, 'from' | 'to'> {
  const names = new Map<string, string>();
  const keysOf = (file: TaskFile, {parent}: Side, pairOf: (index: number) => number) => {
    const keys = new Map<number, string>();
    for (let i = 0; i < file.tasks.length; i++) {
      if (pairOf(i) !== -1) continue;
      const above = parent[i] as number;
      const name = `${above === -1 ? '' : (keys.get(above) ?? `pair ${pairOf(above)}`)}\n${linesOf(file, i)}`;
      const key = names.get(name) ?? `new ${names.size}`;
      names.set(name, key);
      keys.set(i, key);
    }
    return keys;
  };
  const old = keysOf(from, before, i => match.to[i] as number);
  const now = keysOf(to, after, j => (match.from[j] === -1 ? -1 : j));
  return {from: i => old.get(i), to: j => now.get(j)};
}

/** A task with another title at the same place is the old one if a word of the title or its body is the same. */
function alike(from: TaskFile, i: number, to: TaskFile, j: number): boolean {
  const [a, b] = [from.tasks[i] as Task, to.tasks[j] as Task];
  const body = (file: TaskFile, task: Task) => file.text.slice(task.headEnd, task.end).trim();
  if (body(from, a) !== '' && body(from, a) === body(to, b)) return true;
  const words = new Set(wordsOf(a.title));
  return wordsOf(b.title).some(word => words.has(word));
}

function wordsOf(title: string): string[] {
  return title
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word.length > 1);
}
