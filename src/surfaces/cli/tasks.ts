import type {Home} from '../../check/home.ts';
import {indexOf} from '../../check/index.ts';
import {namesOf} from '../../check/names.ts';
import {othersIn, type TaskRow, taskRows} from '../../check/rows.ts';
import {whyNot} from '../../check/why-not.ts';
import {blocks} from '../../formats/common/diagnostic.ts';
import {exit} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {boxOfState, type Task, type TaskState} from '../../formats/task/task.ts';
import {loadHome} from '../actions/load-home.ts';
import {colors, plural, print, printJson} from '../terminal/output.ts';

/** All tasks of a home, file by file, as the tree they are. */
export function tasksCommand({home: dir, json}: {home: string; json: boolean}): number {
  const {home} = loadHome(dir, ['agentdir.yaml', 'templates', 'workflows', '.workflow', 'tasks']);
  const index = indexOf(home);
  const problemsOf = (path: string) => index.problems(path);
  const names = namesOf(home);
  const rows = withApprovals(taskRows(home, names, problemsOf), home);
  if (json) {
    printJson(rows);
    return exit.done;
  }
  if (rows.length === 0)
    print(
      'No tasks. Write one into tasks/NAME.task.md:\n\n## TODO\n\n- [ ] A @planner-001 "Check whether Redis is up"',
      2,
    );
  const othersOf = othersIn(rows, names, problemsOf);
  let next = 0;
  for (const {path, file} of home.tasks) {
    if (file.tasks.length === 0) continue;
    print(
      colors.bold(visibleLine(path)) +
        (blocks(problemsOf(path)) ? colors.red('  has errors, so its tasks are not processed: agentdir check') : ''),
    );
    for (const task of file.tasks) {
      const row = rows[next++];
      if (!row) continue;
      const why = whyNot(row, othersOf(row), task.notes.at(-1)?.text);
      print(`  ${'  '.repeat(depthOf(task))}${line(row, why)}`);
    }
    print('');
  }
  if (rows.length > 0) print(summary(rows));
  return exit.done;
}

/** Adds `waits_for`: ids of undecided requests, to start the task or of the session that works on it. */
function withApprovals(rows: readonly TaskRow[], {queue}: Home): TaskRow[] {
  const open = queue.filter(({item}) => item.decision === undefined && (item.status ?? 'pending') === 'pending');
  const bySession = new Map<string, string[]>();
  for (const {item} of open)
    if (item.session !== undefined && item.id !== undefined)
      bySession.set(item.session, [...(bySession.get(item.session) ?? []), item.id]);
  const ids = new Set(open.map(({item}) => item.id));
  return rows.map(row => {
    const {session, approval} = row;
    const ofSession = row.state === 'in_progress' && typeof session === 'string' ? (bySession.get(session) ?? []) : [];
    const toStart = row.state === 'pending' && typeof approval === 'string' && ids.has(approval) ? [approval] : [];
    const all = [...toStart, ...ofSession];
    return all.length > 0 ? {...row, waits_for: all.join(' ')} : row;
  });
}

function depthOf(task: Task): number {
  let depth = 0;
  for (let at = task.parent; at; at = at.parent) depth++;
  return depth;
}

const paint: Record<TaskState, (text: string) => string> = {
  pending: text => text,
  in_progress: colors.cyan,
  completed: colors.green,
  blocked: colors.red,
  skipped: colors.dim,
};

function line(row: TaskRow, why: string): string {
  const names = row.assignee
    ?.split(' ')
    .map(name => `@${visibleLine(name)}`)
    .join(' ');
  const parts = [
    paint[row.state](`[${boxOfState[row.state]}]`),
    row.priority ? colors.bold(row.priority) : '',
    names ? colors.cyan(names) : '',
    row.tags
      ? colors.dim(
          row.tags
            .split(' ')
            .map(tag => `#${visibleLine(tag)}`)
            .join(' '),
        )
      : '',
    visibleLine(row.title) || colors.dim('(no title)'),
    row.id ? colors.dim(visibleLine(row.id)) : '',
  ];
  return parts.filter(Boolean).join(' ') + (why ? colors.yellow(`  ${visibleLine(why)}`) : '');
}

function summary(rows: readonly TaskRow[]): string {
  const count = (state: TaskState) => rows.filter(row => row.state === state).length;
  const parts = [
    plural(rows.length, 'task'),
    `${rows.filter(row => row.ready).length} ready`,
    `${count('in_progress')} in progress`,
    `${count('completed')} completed`,
    `${count('blocked')} blocked`,
  ];
  return parts.join(', ');
}
