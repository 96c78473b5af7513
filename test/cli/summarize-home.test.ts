import {statSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {waitingFor} from '../../src/check/waiting.ts';
import {cursorPath, cursorText} from '../../src/formats/cursor-file.ts';
import {listSessions} from '../../src/home/session-files.ts';
import {indexHome} from '../../src/surfaces/actions/load-home.ts';
import {summarizeHome} from '../../src/surfaces/cli/summarize-home.ts';
import {agentdir, newHome, put, thorough} from './run.ts';

const session = (status: string) =>
  `agent_id: planner-001\nsystem_prompt: |\n  status: error\n${status}messages:\n  - role: user\n    content: |\n      status: error\n`;

const files = {
  'sessions/a.session.yaml': session('status: sleeping\n'),
  'sessions/b/c.session.yaml': session("status: 'error'\n"),
  'sessions/b/d.session.yaml': `session_id: other\n${session('')}`,
  'sessions/archive/a.1.session.yaml': session('status: error\n'),
  'tasks/a.task.md': `## TODO

- [ ] @human "Now"
  id: now
- [ ] @human "Later"
  depends_on: now
- [x] Done
  id: done
- [ ] @human "After what is done"
  depends_on: done
- [/] @planner-001 "Begun"
  session: a
- [/] @planner-001 "Begun in a session that is gone"
  session: gone
- [/] @planner-001 "Begun in one of another name"
  session: other
`,
  'tasks/approvals.task.md':
    '## TODO\n\n- [_] @human #approval "Approve command: ls"\n  id: abc1\n- [x] @human "Approve command: df"\n  id: abc2\n',
};

it('says of a home what a check says of it', async () => {
  const home = await newHome(files);
  const {index} = indexHome(home);
  const needs = index.needs();
  expect(summarizeHome(home, listSessions(home))).toEqual({
    agents: index.counts().agents,
    tasks: index.counts().tasks,
    sessions: {sleeping: 1, error: 1, new: 1},
    needs: needs.length,
    approvals: needs.filter(({what}) => what === 'approval').length,
    // The head of a session does not say what its error was.
    waiting: waitingFor(
      needs.map(need => (need.what === 'session' ? {...need, line: 1, title: 'see its error'} : need)),
      [],
    ),
  });
  expect(needs).toHaveLength(5);
});

it('is what status says of many sessions without a daemon, and that it did not check them', async () => {
  const many = Object.fromEntries(
    Array.from({length: 501}, (_, i) => [`sessions/many/m${i}.session.yaml`, 'agent_id: planner-001\nmessages: [\n']),
  );
  const home = await newHome({...files, ...many});
  const [json, plain] = await Promise.all([agentdir(home, ['status', '--json']), agentdir(home, ['status'])]);
  expect(json.code).toBe(5);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ...{running: false, agents: 7, sessions: {sleeping: 1, error: 1, new: 502}, needs: 5, approvals: 1},
    ...{errors: null, warnings: null},
  });
  expect(plain.stdout).toContain('too many sessions to check without a daemon: agentdir check\n');
});

it('says how far a large inbox is read', async () => {
  const home = await newHome({'inbox/big.jsonl': '{"content": "a line"}\n'.repeat(10_000)});
  const {ino} = statSync(join(home, 'inbox/big.jsonl'));
  const marks = {head: '0:0', tail: '0:0'};
  const at = {inode: `${ino}`, generation: 1, since: 1, offset: 22 * 2_500, line: 2_500, ...marks};
  put(home, {[cursorPath('inbox/big.jsonl')]: cursorText(at)});
  const {stdout} = await agentdir(home, ['status']);
  expect(stdout).toContain('inbox/big.jsonl: 2500 lines read, 25 % of it; 165000 bytes not read yet\n');
});

it.runIf(thorough)('tells of it now and then while it is read', async () => {
  const home = await newHome({'inbox/big.jsonl': '{"content": "a line"}\n'.repeat(50_000)});
  const {stdout} = await agentdir(home, ['start', '--once', '--json']);
  const told = stdout.split('\n').filter(line => line.includes('"reading"'));
  expect(told.length).toBeGreaterThan(1);
  expect(JSON.parse(told.at(-1) ?? '')).toMatchObject({inbox: 'inbox/big.jsonl', lines: 50_000, percent: 100});
});
