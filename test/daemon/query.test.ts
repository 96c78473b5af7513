import {describe, expect, it} from 'vitest';
import {put} from '../cli/run.ts';
import {openHouse} from './house.ts';
import {committed} from './serve.ts';
import {atRest, begin, TALKER, whenIt} from './talk.ts';

const tasks = (box: string) =>
  `## TODO\n\n- [${box}] @human "First"\n  id: first\n- [ ] @away/talker #db "Second"\n  id: second\n`;

const house = openHouse(() => ({
  'templates/talker.agent.yaml': TALKER.replace('[', '[query_tasks, '),
  'tasks/a.task.md': tasks(' '),
  'tasks/b.task.md': '## TODO\n\n- [ ] @human "Third"\n  id: third\n  depends_on: first\n',
}));

/** What the tool gives to an agent that asks these, one after the other. */
async function ask(topic: string, ...queries: string[]): Promise<Record<string, unknown>[]> {
  house.stage.parts.set(topic, (_, nth) =>
    nth < queries.length
      ? {calls: [{name: 'query_tasks', arguments: JSON.stringify({query: queries[nth]})}]}
      : {text: 'done'},
  );
  begin(house.home, topic, `${topic} please`);
  const {messages} = await whenIt(house.home, topic, atRest);
  return messages.flatMap(({role, content}) =>
    role === 'tool_result' ? [JSON.parse(content ?? '') as Record<string, unknown>] : [],
  );
}

describe('query_tasks', () => {
  it('sees the files as they are, and each change', async () => {
    const query = 'SELECT id, state, blocked_by FROM tasks ORDER BY id';
    expect(await ask('one', query)).toEqual([
      {
        success: true,
        columns: ['id', 'state', 'blocked_by'],
        rows: [
          {id: 'first', state: 'pending', blocked_by: null},
          {id: 'second', state: 'pending', blocked_by: null},
          {id: 'third', state: 'pending', blocked_by: 'first'},
        ],
        row_count: 3,
      },
    ]);
    put(house.home, {'tasks/a.task.md': tasks('x')});
    await committed(house.home, 'tasks/a.task.md', text => text.includes('completed:'));
    expect(await ask('two', query)).toMatchObject([
      {rows: [{state: 'completed'}, {state: 'pending'}, {id: 'third', blocked_by: null}]},
    ]);
  });

  it('also those of other kinds, and files by name', async () => {
    const [files, sessions, approvals] = await ask(
      'three',
      "SELECT title FROM tasks/a.task.md WHERE tags CONTAINS 'db'",
      "SELECT id, agent, messages > 0 AS some FROM sessions WHERE id = 'three'",
      'SELECT id FROM approvals',
    );
    expect(files).toMatchObject({success: true, rows: [{title: 'Second'}]});
    expect(sessions).toMatchObject({success: true, rows: [{id: 'three', agent: 'talker', some: 1}]});
    expect(approvals).toMatchObject({success: true, rows: [], row_count: 0});
  });

  it('tells what is wrong, and is not brought to a standstill', async () => {
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)';
    const [wrong, write, slow, many, after] = await ask(
      'four',
      'SELECT titel FROM tasks',
      'DELETE FROM tasks',
      `${endless} SELECT count(*) FROM n`,
      `${endless} SELECT i FROM n`,
      'SELECT count(*) AS n FROM tasks',
    );
    expect(wrong).toMatchObject({code: 'INVALID_ARGUMENTS', error: expect.stringContaining('did you mean title?')});
    expect(write).toMatchObject({code: 'INVALID_ARGUMENTS', error: expect.stringContaining('expected SELECT')});
    expect(slow).toMatchObject({code: 'TIMEOUT'});
    expect(many).toMatchObject({success: true, row_count: 1000, left_out: expect.stringContaining('more rows')});
    expect(after).toMatchObject({success: true, rows: [{n: 3}]});
  });
});
