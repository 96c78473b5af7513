import {describe, expect, it} from 'vitest';
import {translate} from '../../src/query/dialect.ts';

const files = ['tasks/a.task.md', 'tasks/b.task.md', 'tasks/sub/c.task.md', 'tasks/approvals.task.md'];
const sqlOf = (text: string) => {
  const made = translate(text, files);
  return 'problem' in made ? made : {sql: made.sql, values: Object.values(made.values)};
};
const from = (table: string, n = 0) =>
  `(SELECT * FROM ${table} WHERE file IN (SELECT value FROM json_each(:agentdir${n})))`;

describe('task files in place of tables', () => {
  it.each([
    ['SELECT * FROM tasks/a.task.md', `SELECT * FROM ${from('tasks')} AS tasks`, ['tasks/a.task.md']],
    ['select * from a.task.md;', `select * from ${from('tasks')} AS tasks;`, ['tasks/a.task.md']],
    ['SELECT * FROM tasks/a LIMIT 3', `SELECT * FROM ${from('tasks')} AS tasks LIMIT 3`, ['tasks/a.task.md']],
    ["SELECT * FROM 'tasks/a.task.md'", `SELECT * FROM ${from('tasks')} AS tasks`, ['tasks/a.task.md']],
    ['SELECT t.id FROM "a.task.md" t', `SELECT t.id FROM ${from('tasks')} t`, ['tasks/a.task.md']],
    [
      'SELECT * FROM tasks/*.task.md AS t',
      `SELECT * FROM ${from('tasks')} AS t`,
      ['tasks/a.task.md', 'tasks/b.task.md'],
    ],
    [
      'SELECT * FROM **/*.task.md',
      `SELECT * FROM ${from('tasks')} AS tasks`,
      ['tasks/a.task.md', 'tasks/b.task.md', 'tasks/sub/c.task.md'],
    ],
    ['SELECT * FROM tasks t, b.task.md', `SELECT * FROM tasks t, ${from('tasks')} AS tasks`, ['tasks/b.task.md']],
    [
      'SELECT * FROM tasks/approvals.task.md',
      `SELECT * FROM ${from('approvals')} AS approvals`,
      ['tasks/approvals.task.md'],
    ],
  ])('%s', (text, sql, found) => {
    expect(sqlOf(text)).toEqual({sql, values: [JSON.stringify(found)]});
  });

  it.each([
    'SELECT * FROM tasks/* all of them */ WHERE 1',
    'SELECT \'FROM tasks/a.task.md\', "from a.task.md" FROM tasks -- FROM tasks/a.task.md',
    "SELECT id FROM tasks WHERE title IS NOT DISTINCT FROM 'x.md'",
    'SELECT 1/2 FROM main.tasks JOIN notes ON (1)',
    'SELECT 1 FROM tasks ORDER BY 1, line/line',
    'SELECT 1 FROM (SELECT 1), tasks GROUP BY id, line/line',
  ])('not in %s', text => {
    expect(sqlOf(text)).toEqual({sql: text, values: []});
  });

  it('that are not there are told, with those that are', () => {
    expect(sqlOf('SELECT * FROM tasks/aa.task.md')).toEqual({
      problem: 'there is no task file tasks/aa.task.md',
      hint: 'did you mean tasks/a.task.md?',
    });
    expect(sqlOf('SELECT * FROM tasks/x*.task.md')).toMatchObject({
      problem: 'no task file is like tasks/x*.task.md',
      hint: 'there are tasks/a.task.md, tasks/b.task.md, tasks/sub/c.task.md',
    });
    expect(sqlOf(`SELECT * FROM ${'*a'.repeat(50)}.task.md`)).toMatchObject({problem: 'the pattern is too long'});
  });
});

describe('CONTAINS', () => {
  const word = (column: string, n = 0) =>
    `(instr(' ' || coalesce(${column}, '') || ' ' , ' ' || :agentdir${n} || ' ') > 0)`;

  it.each([
    ["SELECT 1 WHERE tags CONTAINS 'db'", `SELECT 1 WHERE ${word('tags')}`, ['db']],
    ["SELECT 1 WHERE NOT t.tags contains '#db' OR 1", `SELECT 1 WHERE NOT ${word('t.tags')} OR 1`, ['db']],
    [`SELECT 1 WHERE "tags" CONTAINS 'it''s'`, `SELECT 1 WHERE ${word('"tags"')}`, ["it's"]],
    [
      "SELECT 1 WHERE tags CONTAINS 'a' AND assignee CONTAINS '@b'",
      `SELECT 1 WHERE ${word('tags')} AND ${word('assignee', 1)}`,
      ['a', 'b'],
    ],
    [
      "SELECT 1 WHERE tags NOT CONTAINS 'db'",
      "SELECT 1 WHERE (instr(' ' || coalesce(tags, '') || ' '  , ' ' || :agentdir0 || ' ') = 0)",
      ['db'],
    ],
    [
      "SELECT 1 WHERE lower(title) CONTAINS 'up'",
      "SELECT 1 WHERE (instr(lower(coalesce(lower(title), '')) , lower(:agentdir0)) > 0)",
      ['up'],
    ],
    [
      'SELECT 1 FROM a WHERE a.blocked_by CONTAINS b.id',
      "SELECT 1 FROM a WHERE (instr(' ' || coalesce(a.blocked_by, '') || ' ' , ' ' || b.id || ' ') > 0)",
      [],
    ],
  ])('%s', (text, sql, values) => {
    expect(sqlOf(text)).toEqual({sql, values});
  });

  it.each(['SELECT 1 AS contains', 'SELECT contains FROM x', "SELECT 'tags CONTAINS x'"])('not in %s', text => {
    expect(sqlOf(text)).toEqual({sql: text, values: []});
  });
});

describe('what is refused before SQLite sees it', () => {
  it.each([
    ['', 'it is empty'],
    ['-- nothing', 'it is empty'],
    ['DELETE FROM tasks', 'expected SELECT, found DELETE'],
    [';SELECT 1', 'expected SELECT, found ;'],
    ['(SELECT 1)', 'expected SELECT, found ('],
    ['PRAGMA query_only = 0', 'expected SELECT, found PRAGMA'],
    ['EXPLAIN SELECT 1', 'expected SELECT, found EXPLAIN'],
    ["SELECT 1; ATTACH 'x' AS y", 'expected one statement, found more behind the ;'],
    ["SELECT 'a", "' is opened and not closed"],
    ['SELECT [a', '[ is opened and not closed'],
    ['SELECT 1\0; DROP TABLE tasks', 'it has a NUL in it'],
    ['SELECT ?', '? has no value here'],
    ['SELECT 1 WHERE assignee = @planner-001', '@planner-001 has no value here'],
  ])('%j', (text, problem) => {
    expect(sqlOf(text)).toMatchObject({problem});
  });

  it('a ; at the end, comments and blank lines are no second statement', () => {
    expect(sqlOf('\n/* a; b */ SELECT 1; ; -- c; d\n')).toEqual({sql: 'SELECT 1; ; -- c; d\n', values: []});
  });

  it('long ones are read in linear time', () => {
    for (const part of ["'", "''", '/*', '"', '(', 'tags CONTAINS ', ' FROM a', ';', '*'])
      expect(translate(`SELECT ${part.repeat(100_000 / part.length)}`, files)).toBeDefined();
  }, 60_000);
});
