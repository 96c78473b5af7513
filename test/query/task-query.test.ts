import {afterAll, describe, expect, it} from 'vitest';
import {HomeIndex} from '../../src/check/home-index.ts';
import {factsOf} from '../../src/check/read-facts.ts';
import {TaskQuery} from '../../src/query/task-query.ts';

const REDIS = `## TODO

- [x] A @planner-001 #redis "Plan"
  id: plan
  completed: 2025-10-04T10:05:00Z
  estimate: 3h
  notes:
    - 2025-10-04T10:05:00Z @planner-001: it's planned
  - [ ] B @planner-001 #db #dbx "Detect the runtime"
    id: detect
    attempt: 10
  - [ ] C @planner-001 #dbx "Check"
    id: check
    depends_on: detect, plan
- [ ] @human "Look at it"
`;
const QUEUE = `## TODO

- [_] A @human #approval "Approve command: ls"
  id: a-1
  approval_type: terminal_command
  agent: planner-001
  session: s
  risk: LOW
  command: ls
  status: pending
`;

const texts = new Map([
  ['templates/planner-001.agent.yaml', 'id: planner-001\ntype: t\nsystem_prompt: p\ncapabilities: [read_file]\n'],
  ['tasks/redis.task.md', REDIS],
  ['tasks/other.task.md', '## TODO\n- [ ] A "Nobody\'s"\n'],
  ['tasks/approvals.task.md', QUEUE],
  ['sessions/s.session.yaml', 'agent_id: planner-001\nmessages:\n  - role: user\n    content: hi\n'],
  ['sessions/wrong.session.yaml', 'agent_id: [\n'],
]);
const index = new HomeIndex();
for (const [path, text] of texts) index.set(path, factsOf(path, text));
index.settle();
const source = {index, files: () => texts, read: (path: string) => texts.get(path)};

const queries = new TaskQuery();
afterAll(() => queries.close());
const MOST = {rows: 1_000, text: 100_000, cell: 4_000};
const ask = (text: string, mostMs = 60_000, most = MOST) => queries.ask(source, text, {most, mostMs});
/** A line a row. */
const lines = async (text: string) => {
  const answer = await ask(text);
  if ('failed' in answer) throw new Error(JSON.stringify(answer));
  return answer.rows.map(row => Object.values(row).join('|'));
};

describe('what is asked is answered', () => {
  it.each([
    [
      'SELECT id, line, ready, blocked_by FROM tasks',
      ['|2|0|', 'plan|3|0|', 'detect|9|1|', 'check|12|0|detect', '|15|0|'],
    ],
    ["SELECT id FROM tasks/redis.task.md WHERE priority = 'A' AND tags CONTAINS 'redis'", ['plan']],
    ["select id from tasks/redis.task.md where tags contains 'db'", ['detect']],
    ["SELECT id FROM redis.task.md WHERE tags CONTAINS 'dbx' ORDER BY id DESC LIMIT 1", ['detect']],
    ["SELECT title FROM tasks WHERE NOT tags CONTAINS 'dbx' ORDER BY 1", ['Look at it', "Nobody's", 'Plan']],
    ["SELECT id FROM tasks WHERE title LIKE '%RUNTIME' OR id IN ('plan', 'x') ORDER BY id", ['detect', 'plan']],
    ["SELECT count(*) FROM tasks/*.task.md WHERE priority != 'A'", ['2']],
    ['SELECT id FROM tasks WHERE attempt > 9', ['detect']],
    ["SELECT fields ->> 'estimate' FROM tasks WHERE id = 'plan'", ['3h']],
    ['SELECT t.title, n.who, n.text FROM notes n JOIN tasks t ON t.id = n.task', ["Plan|planner-001|it's planned"]],
    ['SELECT id, state, agent, risk, command FROM approvals', ['a-1|pending|planner-001|LOW|ls']],
    ['SELECT "where" FROM tasks/approvals.task.md', ['']],
    ['SELECT id, agent, status, shared, messages FROM sessions', ['s|planner-001|new|0|1', 'wrong||wrong|0|0']],
    [
      `WITH RECURSIVE below(id) AS (SELECT 'plan' UNION SELECT t.id FROM tasks t JOIN below b ON t.parent = b.id)
       SELECT id FROM below ORDER BY id`,
      ['check', 'detect', 'plan'],
    ],
    ['VALUES (1, 2)', ['1|2']],
  ])('%s', async (text, rows) => {
    expect(await lines(text)).toEqual(rows);
  });

  it('columns of one name are told apart; NULL, numbers and blobs are JSON', async () => {
    expect(await ask("SELECT id, id, NULL AS n, 1.5 AS d, x'00ff' AS b FROM tasks WHERE id = 'plan'")).toEqual({
      columns: ['id', 'id_2', 'n', 'd', 'b'],
      rows: [{id: 'plan', id_2: 'plan', n: null, d: 1.5, b: '00ff'}],
      more: false,
      cut: false,
    });
    const long = await ask(`SELECT '${'x'.repeat(9_000)}', '${'x'.repeat(9_001)}'`);
    expect('columns' in long && long.columns.map(name => name.length)).toEqual([60, 62]);
    expect(await ask('SELECT id FROM tasks WHERE 0')).toMatchObject({columns: ['id'], rows: []});
  });

  it('what is wrong is told in the words of SQLite, with the nearest name and all there are', async () => {
    expect(await ask('SELECT titel FROM tasks')).toMatchObject({
      failed: 'wrong',
      error: 'no such column: titel',
      hint: expect.stringMatching(/^did you mean title\? There are tasks\(id, file, .*notes\(task, .*sessions\(id, /),
    });
    expect(await ask('SELECT 1 FROM task')).toMatchObject({
      error: 'no such table: task',
      hint: expect.stringContaining('did you mean tasks?'),
    });
    expect(await ask('SELECT FROM WHERE')).toMatchObject({failed: 'wrong', error: 'near "FROM": syntax error'});
    expect(await ask(`SELECT ${'('.repeat(90_000)}`)).toMatchObject({failed: 'wrong'});
    expect(await ask(`SELECT '${'x'.repeat(100_001)}'`)).toMatchObject({failed: 'wrong'});
  });
});

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)';

describe('a hostile query', () => {
  it.each([
    'DROP TABLE tasks',
    'WITH x AS (SELECT 1) DELETE FROM tasks',
    "WITH x AS (SELECT 1) INSERT INTO tasks (id) SELECT 'made' RETURNING id",
    "WITH x AS (SELECT 1) UPDATE tasks SET id = 'x' RETURNING id",
    'SELECT 1; DELETE FROM tasks',
    "ATTACH 'x' AS y",
    'PRAGMA query_only = 0',
    'SELECT * FROM pragma_query_only(0)',
    'SELECT * FROM pragma_hard_heap_limit(0)',
    "SELECT load_extension('x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('/tmp/x', 'y')",
    "VACUUM INTO '/tmp/x'",
    'BEGIN',
    'CREATE TEMP TABLE t (a)',
  ])('%s is refused, and changes nothing', async text => {
    expect(await ask(text)).toMatchObject({failed: 'wrong'});
    expect(await lines('SELECT count(*), count(id) FROM tasks')).toEqual(['5|3']);
  });

  it.each([
    ['an endless one', `${ENDLESS} SELECT count(*) FROM n`],
    ['one that finds nothing', `${ENDLESS} SELECT i FROM n WHERE i < 0`],
    [
      'a huge cross join',
      `SELECT count(*) FROM ${'abcdefghijklmno'
        .split('')
        .map(name => `tasks ${name}`)
        .join(', ')}, notes`,
    ],
  ])('%s is ended in time, and the next is answered', async (_, text) => {
    const start = performance.now();
    expect(await ask(text, 300)).toMatchObject({failed: 'slow', error: 'it took too long and was stopped after 0.3 s'});
    expect(performance.now() - start).toBeLessThan(30_000);
    expect(await lines('SELECT count(*) FROM tasks')).toEqual(['5']);
  });

  it('others go on meanwhile', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    await ask(`${ENDLESS} SELECT count(*) FROM n`, 400);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  it('gets no more rows, text and memory than there is room for', async () => {
    expect(await ask(`${ENDLESS} SELECT i FROM n`)).toMatchObject({more: true, rows: {length: 1_000}});
    const wide = await ask(`${ENDLESS} SELECT hex(zeroblob(3000)) FROM n`, undefined, {...MOST, cell: 100});
    expect(wide).toMatchObject({more: true, cut: true});
    const large = await ask(`${ENDLESS} SELECT hex(zeroblob(1000)) AS x FROM n`);
    expect('rows' in large && large.rows.length).toBe(50);
    expect(await ask('SELECT hex(zeroblob(400000000))')).toMatchObject({failed: 'wrong', error: 'out of memory'});
    expect(await lines('SELECT count(*) FROM tasks')).toEqual(['5']);
  });

  it('ends with its call', async () => {
    const stop = new AbortController();
    const asked = queries.ask(source, `${ENDLESS} SELECT count(*) FROM n`, {most: MOST, signal: stop.signal});
    setTimeout(() => stop.abort(), 50);
    expect(await asked).toMatchObject({failed: 'broken'});
  });
});
