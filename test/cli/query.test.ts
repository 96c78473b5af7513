import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {queryFolders} from '../../src/surfaces/cli/query-files.ts';
import {agentdir, environment, main, newHome} from './run.ts';

const TASKS = `## TODO

- [x] A @planner-001 #redis "Plan it"
  id: plan
- [ ] B @executor-001 #db "Check it, and say what came of it in more words than any terminal of the usual width can ever show on one line"
  id: check
  depends_on: plan
- [ ] @human "Look\\u202e"
`;

describe('agentdir tasks SQL', () => {
  it('prints a table, and where no terminal shows it all of it', async () => {
    const home = await newHome({'tasks/a.task.md': TASKS});
    const {code, stdout} = await agentdir(home, ['tasks', 'SELECT id, title, ready FROM tasks ORDER BY line']);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[1]).toMatch(/^│ id +│ title +│ ready │$/);
    expect(lines[3]).toMatch(/^│ plan +│ Plan it +│ 0 +│$/);
    expect(lines[4]).toMatch(/^│ check │ Check it, and say what came .* can ever show on one line │ 1 +│$/);
    expect(lines[5]).not.toContain('\u202e');
    expect(lines.at(-1)).toBe('3 rows');
  });

  it('prints rows with many columns below each other', async () => {
    const home = await newHome({'tasks/a.task.md': TASKS});
    const {stdout} = await agentdir(home, ['tasks', "SELECT * FROM a.task.md WHERE tags CONTAINS 'redis'"]);
    expect(stdout).toBe(
      `id: plan\nfile: tasks/a.task.md\nline: 3\ntitle: Plan it\nstate: completed\npriority: A\nassignee: planner-001\ntags: redis\nready: 0\n\n1 row\n`,
    );
  });

  it('--json prints an array of rows', async () => {
    const home = await newHome({'tasks/a.task.md': TASKS});
    const {stdout} = await agentdir(home, ['tasks', '--json', 'SELECT id, ready FROM tasks WHERE id IS NOT NULL']);
    expect(JSON.parse(stdout)).toEqual([
      {id: 'plan', ready: 0},
      {id: 'check', ready: 1},
    ]);
    expect((await agentdir(home, ['tasks', '--json', 'SELECT id FROM approvals'])).stdout).toBe('[]\n');
  });

  it('what is wrong is told, with a hint; exit 2', async () => {
    const home = await newHome({'tasks/a.task.md': TASKS});
    const wrong = (sql: string, ...more: string[]) => agentdir(home, ['tasks', sql, ...more]);
    expect(await wrong('SELECT titel FROM tasks')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^agentdir: no such column: titel\n {2}did you mean title\? There are tasks\(/),
    });
    expect(await wrong('DELETE FROM tasks')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected SELECT'),
    });
    const {code, stdout} = await wrong('SELECT 1 FROM tasks/b.task.md', '--json');
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: 'there is no task file tasks/b.task.md',
      hint: 'did you mean tasks/a.task.md?',
    });
  });

  it('reads of sessions and pages only what a query names', async () => {
    expect(queryFolders('SELECT id FROM tasks')).toEqual(['tasks', 'templates', 'workflows']);
    expect(queryFolders('SELECT * FROM "Sessions"')).toContain('sessions');
    expect(queryFolders('SELECT * FROM tasks/approvals.task.md')).toContain('approvals');
    const session = 'agent_id: planner-001\nmessages:\n  - role: user\n    content: Hello\n';
    const home = await newHome({'tasks/a.task.md': TASKS, 'sessions/planner-001-x1.session.yaml': session});
    const {stdout} = await agentdir(home, ['tasks', '--json', 'SELECT agent, messages FROM SESSIONS']);
    expect(JSON.parse(stdout)).toEqual([{agent: 'planner-001', messages: 1}]);
  });

  it('Ctrl-C ends a query that would never end', async () => {
    const home = await newHome({'tasks/a.task.md': TASKS});
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
    const child = spawn(process.execPath, [main, '--home', home, 'tasks', endless], {
      env: environment,
      stdio: 'pipe',
    });
    const ended = once(child, 'exit');
    await isBusy(child.pid ?? 0);
    child.kill('SIGINT');
    expect(await ended).toEqual([null, 'SIGINT']);
  });

  it('SQLite is not loaded where nobody asks', async () => {
    const home = await newHome({'tasks/a.task.md': TASKS});
    const loaded = async (...args: string[]) =>
      (await agentdir(home, args, {...environment, NODE_DEBUG: 'module'})).stderr.includes('sql-wasm.js');
    expect(await loaded('tasks', 'SELECT 1')).toBe(true);
    for (const command of [['status'], ['tasks'], ['start', '--once']]) expect(await loaded(...command)).toBe(false);
  });
});

/** It has worked for longer than it takes to get to the query. */
async function isBusy(pid: number): Promise<void> {
  const ticks = () => Number(/\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]?.split(' ')[11]);
  while (ticks() < 100) await new Promise(done => setTimeout(done, 20));
}
