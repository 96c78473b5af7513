import {existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {agentdir} from '../cli/run.ts';
import {askedBy, decideInQueue, itemsOf, pagePath, whenItem} from './deciding.ts';
import {beginWith, gatherTeam, isAsleep, pathOfSession, resultsIn, taskCall, whenSession} from './delegating.ts';
import {read, serve, spawnDaemon} from './serve.ts';
import {expectSound} from './sound.ts';

/** Where daemons are killed while a task is given, done, summarized, and its result recorded. */
const places = [
  'call-start:1',
  'task-start:1',
  'delivery:1',
  'turn-ask:2',
  'call-end:2',
  'task-result:1',
  'version-append:9',
  'save-rename:8',
];

it('a task that kills interrupt is done in one session and has one result', async () => {
  const {home, env, parts} = await gatherTeam();
  for (const k of places.keys()) {
    parts.set(`plan${k}`, ({messages}) =>
      messages.some(({role}) => role === 'tool') ? {text: 'Thanks.'} : {calls: [taskCall('t', `work${k} hard`)]},
    );
    parts.set(`work${k}`, ({messages, tools = []}) => {
      if (tools.length === 0) return {text: 'I have written a file.'};
      if (messages.some(({role}) => role === 'tool')) return {text: 'All is well. '.repeat(60)};
      return {calls: [{id: 'w', name: 'create_file', arguments: {path: `made${k}.md`, content: 'x\n'}}]};
    });
  }
  for (const [k, place] of places.entries()) {
    const daemon = spawnDaemon(home, {...env, AGENTDIR_CRASH_AT: place});
    beginWith(home, `boss-${k}`, `plan${k} please`);
    expect(await daemon.exited, `${place}: ${daemon.errors()}`).toBe('SIGKILL');
  }
  const daemon = await serve(home, env);
  for (const k of places.keys()) {
    const parent = await whenSession(home, `boss-${k}`, isAsleep, 20_000);
    const child = await whenSession(home, `boss-${k}.1`, ({header}) => header?.result_due === undefined);
    expect(pathOfSession(home, `boss-${k}.2`)).toBeUndefined();
    const {result} = child.header ?? {};
    expect(result).toMatchObject({status: 'completed', summary: 'I have written a file.'});
    const results = parent.messages.filter(({role}) => role === 'tool_result');
    expect(results.map(({tool_call_id}) => tool_call_id)).toEqual(['t']);
    expect(resultsIn(parent).get('t')).toMatchObject({success: true, session: `boss-${k}.1`, ...result});
    expect(resultsIn(child).size).toBe(1);
    expect(child.messages.filter(({from}) => from === '@boss')).toHaveLength(1);
    expect(child.messages.filter(({delivery}) => delivery?.startsWith('summary/'))).toHaveLength(1);
    // A call that a kill interrupts is not made again.
    const [made] = resultsIn(child).values();
    if (made?.success) expect(existsSync(join(home, `workspaces/hand/made${k}.md`))).toBe(true);
    else expect(made).toMatchObject({code: 'INTERRUPTED'});
  }
  expect(await daemon.stop()).toBe(0);
  await expectSound(home);
  const {code, stdout} = await agentdir(home, ['verify']);
  expect(code, stdout).toBe(0);
});

it('a task is given as a person changed it before approving it, also if a kill comes in between', async () => {
  const {home, env, parts, asked} = await gatherTeam({'allowlist.yaml': 'version: 1\n'});
  parts.set('plan', (_, nth) => (nth === 0 ? {calls: [taskCall('t', 'remove all logs')]} : {text: 'Thanks.'}));
  beginWith(home, 'boss-1', 'plan');
  const killed = spawnDaemon(home, {...env, AGENTDIR_CRASH_AT: 'task-start:1'});
  const {id} = await askedBy(home, 'boss-1');
  const page = read(home, pagePath(id));
  writeFileSync(join(home, pagePath(id)), page.replace('remove all logs', 'count all logs\nand remove none'));
  decideInQueue(home, id, 'x');
  await whenItem(home, id, ({status}) => status === 'approved');
  expect(await killed.exited, killed.errors()).toBe('SIGKILL');
  const daemon = await serve(home, env);
  const parent = await whenSession(home, 'boss-1', isAsleep);
  const child = await whenSession(home, 'boss-1.1', ({header}) => header?.result_due === undefined);
  expect(child.messages[0]?.content).toBe('count all logs\nand remove none');
  expect(asked('remove')).toEqual([]);
  const edited = {description: 'count all logs\nand remove none'};
  expect(resultsIn(parent).get('t')).toMatchObject({success: true, session: 'boss-1.1', edited});
  expect(itemsOf(home)).toHaveLength(1);
  expect(await daemon.stop()).toBe(0);
  await expectSound(home);
  const {code, stdout} = await agentdir(home, ['verify']);
  expect(code, stdout).toBe(0);
});
