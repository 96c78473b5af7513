import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {factsOf, HomeIndex} from '../dist/index.js';
import {median, table, times} from './measure.mjs';
import {row} from './row.mjs';

const template = 'id: planner-001\ntype: planner\nsystem_prompt: Plan.\ncapabilities: [read_file]\n';

/** As the daemon writes one: a prompt, a question, a call that waits for an approval, its results. */
function sessionText(id, turn = 0) {
  return `# yaml-language-server: $schema=../schemas/session.json
session_id: ${id}
agent_id: planner-001
agent_type: planner
model: default
system_prompt: |
  ${'You plan, and you say what you plan. '.repeat(8)}
created: '2025-10-04T10:05:00.000Z'
updated: '2025-10-04T10:06:${String(turn % 60).padStart(2, '0')}.000Z'
status: active
messages:
  - timestamp: '2025-10-04T10:05:23.000Z'
    role: user
    from: human
    content: Is Redis up?
  - timestamp: '2025-10-04T10:05:45.000Z'
    role: assistant
    content: Let me look.
    tool_calls:
      - id: call-1
        type: function
        function: {name: read_file, arguments: '{"path": "redis.conf"}'}
  - timestamp: '2025-10-04T10:05:46.000Z'
    role: tool_result
    tool_call_id: call-1
    content: '{"success": true}'
`;
}

const taskText = (id, dependsOn) => `- [ ] @planner-001 "Task"\n  id: ${id}\n  depends_on: ${dependsOn}\n`;

/** What one changed file costs in small and large homes; what is kept of each file. */
export default function check() {
  const rows = [];
  for (let i = 0; i < 300; i++) factsOf('sessions/warm.session.yaml', sessionText('warm', i));
  for (const count of [10, 1_000, 10_000]) {
    const texts = Array.from({length: count}, (_, i) => {
      const id = `planner-001-${i.toString(16).padStart(6, '0')}`;
      return [`sessions/${String(i % 100).padStart(2, '0')}/${id}.session.yaml`, sessionText(id)];
    });
    const before = heap();
    const start = performance.now();
    const facts = texts.map(([path, text]) => [path, factsOf(path, text)]);
    const read = performance.now() - start;
    const index = new HomeIndex();
    index.set('templates/planner-001.agent.yaml', factsOf('templates/planner-001.agent.yaml', template));
    const begun = performance.now();
    for (const [path, fact] of facts) index.set(path, fact);
    index.settle();
    const first = performance.now() - begun;
    if (index.all().length > 0) throw new Error(`unexpected ${JSON.stringify(index.all()[0])}`);
    const kept = heap() - before;
    const [path, text] = texts[count >> 1];
    const good = factsOf(path, text);
    const orphan = factsOf(path, text.replace('agent_id: planner-001', 'agent_id: nobody'));
    const hundred = work =>
      median(
        () => {
          for (let i = 0; i < 100; i++) work(i);
        },
        {least: 20},
      ) / 100;
    const same = hundred(i => {
      index.set(path, i % 2 ? good : {...good});
      index.settle();
    });
    const flip = hundred(i => {
      index.set(path, i % 2 ? good : orphan);
      if (index.settle().length !== 1) throw new Error('not told');
    });
    const whole = hundred(i => {
      index.set(path, factsOf(path, sessionText(good.session.id, i)));
      index.settle();
    });
    if (count === 10_000) {
      row('a session changed in a home of 10,000, checked', {
        ours: whole,
        baseline: {name: 'of 10', value: rows[0][5]},
      });
      row('memory a session, facts and index', {ours: kept / count / 1024, unit: 'KB'});
    }
    rows.push([
      String(count),
      read / count,
      first,
      same * 1_000,
      flip * 1_000,
      whole,
      times(whole, rows[0]?.[5] ?? whole),
      JSON.stringify(good).length,
      count < 1_000 ? '' : kept / count / 1024,
    ]);
  }
  table(
    `one changed session of ${(sessionText('planner-001-000000').length / 1024).toFixed(1)} KB`,
    [
      'sessions',
      'factsOf, ms each',
      'first settle, ms',
      'settle, µs',
      'with a new problem, µs',
      'factsOf + settle, ms',
      'to 10',
      'facts, bytes',
      'kept, KB each',
    ],
    rows,
  );

  const chains = [];
  for (const files of [1, 100, 10_000]) {
    const texts = new Map();
    for (let i = 0; i < 10_000; i++) {
      const path = `tasks/${String(i % files).padStart(5, '0')}.task.md`;
      texts.set(path, (texts.get(path) ?? '') + taskText(`t${i}`, i < 9_999 ? `t${i + 1}` : 'end'));
    }
    const read = median(() => [...texts].map(([path, text]) => factsOf(path, text)), {least: 3});
    const facts = [...texts].map(([path, text]) => [path, factsOf(path, text)]);
    const open = factsOf('tasks/z.task.md', '- [x] "End"\n  id: end\n');
    const closed = factsOf('tasks/z.task.md', taskText('end', 't0'));
    const first = median(
      () => {
        const index = new HomeIndex();
        index.set('tasks/z.task.md', open);
        for (const [path, fact] of facts) index.set(path, fact);
        index.settle();
      },
      {least: 3},
    );
    const index = new HomeIndex();
    for (const [path, fact] of facts) index.set(path, fact);
    const circle = median(
      () => {
        index.set('tasks/z.task.md', closed);
        index.settle();
        index.set('tasks/z.task.md', open);
        index.settle();
      },
      {least: 3},
    );
    chains.push([String(files), read, first, circle]);
  }
  table(
    '10,000 tasks, each waiting for the next, ms',
    ['files', 'factsOf', 'first settle', 'a circle closed and opened'],
    chains,
  );
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

function heap() {
  collect();
  return process.memoryUsage().heapUsed;
}
