import {mergeDiff3} from 'node-diff3';
import {describeEdit} from '../dist/formats/merge/describe-edit.js';
import {merge} from '../dist/formats/merge/merge.js';
import {findMergeBase} from '../dist/formats/merge/merge-base.js';
import {undoesLasting} from '../dist/formats/merge/merge-lasting.js';
import {appendMessage, parseSession, parseTasks, sessionText, setSessionField, updateTask} from '../dist/index.js';
import {median, mediansInTurns, rounds, table, times} from './measure.mjs';
import {row} from './row.mjs';
import {tasksOf} from './tasks-text.mjs';

const NOW = '2025-10-04T10:06:00.000Z';

function sessionOf(count) {
  const lines = [
    'session_id: planner-001-abc123',
    'agent_id: planner-001',
    'status: active',
    `updated: '${NOW}'`,
    'messages:',
  ];
  for (let i = 0; i < count; i++)
    lines.push(
      `  - timestamp: '${new Date(1.7e12 + i * 1000).toISOString()}'`,
      `    role: ${i % 2 ? 'assistant' : 'user'}`,
      '    content: |',
      `      ${`It says so in the log, and the log is right, ${i}. `.repeat(20)}`,
    );
  return `${lines.join('\n')}\n`;
}

/** One change on each side, far apart; and the worst: every task changed by both. */
function taskCases(count) {
  const base = tasksOf(count);
  const file = parseTasks(base);
  const daemon = updateTask(file, file.tasks[count >> 2], {box: '/', fields: {started: NOW}});
  const person = base.replace(`"Check container ${(count >> 2) * 3}"`, '"Mine"');
  const all = {
    daemon: base.replace(/^ {2}id: .*$/gm, line => `${line}\n  started: ${NOW}`),
    person: base.replace(/^ {2}depends_on: .*$/gm, line => `${line}\n  due: 2026-01-01`),
  };
  return {base, daemon, person, all};
}

function sessionCases(count) {
  const base = sessionOf(count);
  const session = setSessionField(parseSession(base), 'updated', '2025-10-04T10:07:00.000Z');
  const reply = {timestamp: NOW, role: 'assistant', content: 'Yes.'};
  const daemon = sessionText(appendMessage(session, reply));
  const person = `${base.replace(`right, ${count >> 1}.`, 'mine.')}  - role: user\n    content: And?\n`;
  return {base, daemon, person};
}

/** A person's stale text over the daemon's, against one parse of one of the three and a plain diff3 of their lines. */
export default function merges() {
  const rows = [];
  for (const count of rounds([100, 1_000, 10_000], [100, 10_000]))
    for (const kind of ['tasks', 'session']) {
      const {base, daemon, person, all} = kind === 'tasks' ? taskCases(count) : sessionCases(count);
      const merged = merge(kind, base, person, daemon);
      if (merged.conflicts.length > 0) throw new Error(merged.conflicts.join('\n'));
      const {once, one} = mediansInTurns({
        once: () => (kind === 'tasks' ? parseTasks(base) : parseSession(base)),
        one: () => merge(kind, base, person, daemon),
      });
      const every = all && median(() => merge(kind, base, all.person, all.daemon), {least: 3});
      const plain =
        count > 100
          ? undefined
          : median(() => mergeDiff3(person.split('\n'), base.split('\n'), daemon.split('\n')), {least: 1, ms: 1});
      const lines = median(() => merge('memory', base, person, daemon), {least: 3});
      if (count === 10_000)
        row(`one change on each side of 10,000 ${kind === 'tasks' ? 'tasks' : 'messages'}`, {
          ours: one,
          baseline: {name: 'reading it once', value: once},
        });
      rows.push([
        `${count} ${kind === 'tasks' ? 'tasks' : 'messages'}`,
        base.length / 1e6,
        once,
        one,
        times(one, once),
        every ?? '',
        lines,
        plain ?? 'not run',
        median(() => undoesLasting(kind, daemon, person)),
        median(() => findMergeBase(kind, [daemon, base, daemon, base], person)),
        median(() => describeEdit(kind, base, person)),
      ]);
    }
  table(
    'merges, ms',
    [
      'file',
      'MB',
      'one parse',
      'merge',
      'to parse',
      'all changed',
      'by lines',
      'node-diff3',
      'undoesLasting',
      'findMergeBase',
      'describeEdit',
    ],
    rows,
  );
}
