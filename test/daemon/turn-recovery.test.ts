import {appendFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, describe, expect, it} from 'vitest';
import {agentdir, environment, git, newHome, put, until} from '../cli/run.ts';
import {read, serve, spawnDaemon} from './serve.ts';
import {leastForm, pathOf, sessionOf, setStage, TALKER} from './talk.ts';

const stage = await setStage();
afterAll(() => stage.server.close());

const LOOP = 12;
/** Calls a tool again and again, then says so. */
stage.parts.set('loop', ({messages}) => {
  const turns = messages.filter(({role}) => role === 'assistant').length;
  return turns >= LOOP ? {text: 'enough'} : {calls: [{id: `call_${turns}`, name: 'list_agents', arguments: {}}]};
});

describe('killed in the midst of turns', () => {
  it("nothing that the agent said is committed as the person's, and nothing merged", async () => {
    const home = await newHome({'templates/talker.agent.yaml': TALKER});
    put(home, {[pathOf('l')]: leastForm('loop', 'talker')});
    for (const crash of ['save-rename:2', 'journal-ref-rename:2', 'turn-ask:3', 'turn-answer:3', 'save-unlock:4']) {
      const daemon = spawnDaemon(home, {...stage.env, AGENTDIR_CRASH_AT: crash});
      expect(await daemon.exited, crash).toBe('SIGKILL');
    }
    const {code} = await agentdir(home, ['start', '--once'], {...environment, ...stage.env});
    expect(code).toBe(0);
    const {messages, header} = sessionOf(home, 'l');
    expect(header?.status).toBe('sleeping');
    expect(messages.filter(({role}) => role === 'assistant')).toHaveLength(LOOP + 1);
    const log = (await git(home, 'log', '--format=%an: %s', '--', pathOf('l'))).trim().split('\n');
    expect(log.filter(line => line.startsWith('Ada: '))).toEqual(['Ada: session(l): created by hand']);
    expect(log.join('\n')).not.toContain('merged');
    expect(await git(home, 'status', '--porcelain')).toBe('');
    expect(stage.server.violations).toEqual([]);
  });
});

describe('start --once with a model that answers after four seconds', () => {
  it('acts on what a person wrote meanwhile', async () => {
    const home = await newHome({'templates/talker.agent.yaml': TALKER, [pathOf('o')]: leastForm('slow', 'talker')});
    stage.parts.set('slow', async (_request, n) => {
      if (n > 0) return {text: 'two'};
      // With --once, a file that cannot be acted on for three seconds is left to the next run.
      await sleep(4_000);
      appendFileSync(join(home, pathOf('o')), '  - role: user\n    content: and two?\n');
      return {text: 'one'};
    });
    const run = await agentdir(home, ['start', '--once'], {...environment, ...stage.env});
    expect(run, run.stderr).toMatchObject({code: 0});
    const {messages, header} = sessionOf(home, 'o');
    expect([header?.status, messages.at(-1)?.content]).toEqual(['sleeping', 'two']);
  });
});

describe('killed when git had not been written to for seconds', () => {
  it("nothing that the agent said is committed as the person's", async () => {
    const home = await newHome({'templates/talker.agent.yaml': TALKER});
    const lock = join(home, '.git/index.lock');
    put(home, {[pathOf('l')]: leastForm('slow loop', 'talker'), '.git/index.lock': ''});
    const answers = () => sessionOf(home, 'l').messages.filter(({role}) => role === 'assistant').length;
    stage.parts.set('slow', ({messages}) => {
      const turns = messages.filter(({role}) => role === 'assistant').length;
      return {latency: 400, calls: [{id: `call_${turns}`, name: 'list_agents', arguments: {}}]};
    });
    // The first of what it replaces is let go of after two seconds; the second daemon is killed, too, before git has anything.
    for (const most of [4, 14]) {
      const daemon = spawnDaemon(home, stage.env);
      await until(answers, count => count >= most);
      await daemon.kill();
    }
    stage.parts.set('slow', () => ({text: 'enough'}));
    rmSync(lock);
    const {code} = await agentdir(home, ['start', '--once'], {...environment, ...stage.env});
    expect(code).toBe(0);
    const log = (await git(home, 'log', '--format=%an: %s', '--', pathOf('l'))).trim().split('\n');
    expect(log.filter(line => line.startsWith('Ada: '))).toEqual(['Ada: session(l): created by hand']);
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });
});

describe('a session in error', () => {
  it('is asked again after agentdir send', async () => {
    const home = await newHome({'templates/talker.agent.yaml': TALKER});
    stage.parts.set('wrong', (_, nth) =>
      nth === 0 ? {status: 401, error: {message: 'no such key'}} : {text: 'right'},
    );
    put(home, {[pathOf('w')]: leastForm('wrong', 'talker')});
    const {stop, events} = await serve(home, stage.env);
    await until(
      () => read(home, pathOf('w')),
      text => text.includes('status: error'),
    );
    const sent = await agentdir(home, ['send', 'again', '--session', 'w', '--wait'], {...environment, ...stage.env});
    expect(sent).toMatchObject({code: 0, stdout: 'right\n'});
    expect(read(home, pathOf('w'))).not.toContain('error:');
    expect(events.filter(({event}) => event === 'merged')).toEqual([]);
    await stop();
  });
});

describe('a server that is busy', () => {
  it('and says "at once" is not asked at once for ever', async () => {
    const home = await newHome({'templates/talker.agent.yaml': TALKER});
    const asked: number[] = [];
    stage.parts.set('busy', (_, nth) => {
      asked.push(performance.now());
      return nth < 3 ? {status: 429, headers: {'retry-after': '0'}} : {text: 'now'};
    });
    put(home, {[pathOf('b')]: leastForm('busy', 'talker')});
    const {stop} = await serve(home, stage.env);
    await until(
      () => read(home, pathOf('b')),
      text => text.includes('now'),
    );
    // 0.5 s, 1 s and 2 s, a quarter more or less.
    expect((asked.at(-1) ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(2_000);
    await stop();
  });
});
