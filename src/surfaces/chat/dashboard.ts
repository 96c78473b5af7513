import {visibleLine} from '../../formats/common/visible.ts';
import {boxOfState, type Task, type TaskState} from '../../formats/task/task.ts';
import {colors} from '../terminal/output.ts';
import {cutToWidth} from '../terminal/table.ts';

const PAINTS: Record<TaskState, (text: string) => string> = {
  pending: String,
  in_progress: colors.cyan,
  completed: colors.green,
  blocked: colors.red,
  skipped: colors.dim,
};
const ORDER: readonly TaskState[] = ['in_progress', 'blocked', 'pending', 'completed', 'skipped'];

/** All tasks across agents, those at work first: at most `height` lines, from `from` on. */
export function dashboardLines(
  tasks: readonly {path: string; task: Task}[],
  from: number,
  height: number,
  width: number,
): string[] {
  const sorted = [...tasks].sort((a, b) => ORDER.indexOf(a.task.state) - ORDER.indexOf(b.task.state));
  const count = (state: TaskState) => tasks.filter(({task}) => task.state === state).length;
  const total = `${count('pending')} pending, ${count('in_progress')} in progress, ${count('completed')} completed, ${count('blocked')} blocked`;
  const room = Math.max(1, height - 2);
  const start = Math.max(0, Math.min(from, sorted.length - room));
  const shown = sorted.slice(start, start + room);
  const place = sorted.length > room ? ` (${start + 1}-${start + shown.length} of ${sorted.length}; Up, Down)` : '';
  return [
    colors.bold(cutToWidth(`Tasks${place}`, width)),
    ...(shown.length === 0
      ? [colors.dim(cutToWidth('no tasks yet: @agent /task TEXT, or agentdir task add', width))]
      : shown.map(({task}) => taskLine(task, width))),
    colors.dim(cutToWidth(`${total}; Esc closes`, width)),
  ].slice(0, height);
}

/** `[/] @coder Fix the bug  last note`. */
function taskLine(task: Task, width: number): string {
  const {state, title, names, notes, children} = task;
  const done = children.filter(child => child.state === 'completed').length;
  const box = `[${boxOfState[state]}]`;
  const who = names[0] === undefined ? '' : `@${visibleLine(names[0])}`;
  const progress = children.length > 0 ? ` ${done}/${children.length}` : '';
  const note = notes.at(-1)?.text;
  const why = note === undefined ? '' : `  ${visibleLine(note.replace(/\s+/g, ' '))}`;
  const words = `${visibleLine(title) || '(no title)'}${progress}${why}`;
  const head = [box, who].filter(Boolean).join(' ');
  const room = Math.max(4, width - head.length - 1);
  return `${PAINTS[state](box)}${who === '' ? '' : ` ${colors.cyan(cutToWidth(who, Math.max(4, width - 8)))}`} ${cutToWidth(words, room)}`;
}
