import remarkParse from 'remark-parse';
import {unified} from 'unified';
import {addTask, parseTasks, setBox, updateTask} from '../dist/index.js';
import {median, mediansInTurns, table, times} from './measure.mjs';
import {atMost, ratioAtMost, row} from './row.mjs';
import {tasksOf} from './tasks-text.mjs';

/** The least anyone can do: look at each line once. */
function bareScan(text) {
  let found = 0;
  for (const line of text.split('\n')) if (/^\s*- \[[ _/xX!-]\] /.test(line)) found++;
  return found;
}

/** Task files: one parse against a bare line scan and against remark; single edits. */
export default function tasks() {
  const rows = [];
  for (const count of [100, 1_000, 10_000]) {
    const text = tasksOf(count);
    const file = parseTasks(text);
    if (file.tasks.length !== count || bareScan(text) !== count) throw new Error('lost tasks');
    const task = file.tasks[count >> 1];
    const {bare, whole} = mediansInTurns({bare: () => bareScan(text), whole: () => parseTasks(text)});
    // remark needs about 60 s for 10,000.
    const remark = count > 1_000 ? undefined : median(() => unified().use(remarkParse).parse(text), {least: 1, ms: 1});
    const box = median(() => Buffer.from(setBox(file, task, 'x')));
    const note = {time: '2025-10-04T10:05:00.000Z', who: 'executor-001', text: 'done'};
    const change = {box: 'x', fields: {completed: '2025-10-04T10:05:00.000Z'}, note};
    const done = median(() => Buffer.from(updateTask(file, task, change)));
    const add = median(() => Buffer.from(addTask(file, {title: 'One more', fields: {id: 'task-new'}})));
    const many = count.toLocaleString('en-US');
    const goal = count === 10_000 && {goal: ratioAtMost(5, 'issue 2')};
    row(`read ${many} tasks`, {ours: whole, baseline: {name: 'a bare line scan', value: bare}, ...goal});
    if (count === 10_000)
      row(`one edit among ${many} tasks, as bytes`, {ours: Math.max(box, done, add), goal: atMost(30, 'issue 2')});
    rows.push([
      count,
      text.length / 1e6,
      bare,
      whole,
      times(whole, bare),
      remark ?? 'skipped',
      remark ? times(whole, remark) : '',
      box,
      done,
      add,
    ]);
  }
  table(
    'task files, ms (edits: the whole new file as bytes)',
    [
      'tasks',
      'MB',
      'bare scan',
      'parseTasks',
      'to bare scan',
      'remark.parse',
      'to remark',
      'set box',
      'complete + note',
      'add task',
    ],
    rows,
  );
}
