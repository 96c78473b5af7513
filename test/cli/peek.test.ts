import {utimesSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {LiveOutput} from '../../src/home/live.ts';
import {playDaemon} from './played-daemon.ts';
import {agentdir, newHome, startAgentdir, until} from './run.ts';

const said = (agent: string, content: string) =>
  `agent_id: ${agent}\nstatus: sleeping\nmessages:\n  - role: user\n    content: q\n  - role: assistant\n    content: ${content}\n`;

async function threeSessions(): Promise<string> {
  const home = await newHome({
    'sessions/s-old.session.yaml': said('planner-001', 'old words'),
    'sessions/s-new.session.yaml': said('executor-001', 'new words'),
    'sessions/s-mute.session.yaml': 'agent_id: planner-001\nmessages:\n  - role: user\n    content: q\n',
    'sessions/s-broken.session.yaml': 'agent_id: [\n',
  });
  utimesSync(join(home, 'sessions/s-old.session.yaml'), 1_000_000_000, 1_000_000_000);
  return home;
}

const after = {messages: 1, answers: 0};

describe('agentdir peek', () => {
  it('shows what was said last, the latest first', async () => {
    const home = await threeSessions();
    const {code, stdout} = await agentdir(home, ['peek']);
    expect({code, stdout}).toEqual({
      code: 0,
      stdout: 's-new @executor-001\nnew words\n\ns-old @planner-001\nold words\n',
    });
    expect((await agentdir(home, ['peek', '-n', '1'])).stdout).not.toContain('old words');
    expect((await agentdir(home, ['peek', '--to', 'planner'])).stdout).toBe('s-old @planner-001\nold words\n');
    expect((await agentdir(home, ['peek', '--session', 'old'])).stdout).toContain('old words');
    expect(await agentdir(home, ['peek', '--session', 's-'])).toMatchObject({code: 2});
  });

  it('a turn under way comes first, with its text so far; without a daemon none is', async () => {
    const home = await threeSessions();
    const daemon = playDaemon(home);
    const live = new LiveOutput(nodeDisk(home), 's-mute', 'planner-001');
    live.begin('t1', after);
    live.text('void');
    live.retry('503', new Date().toISOString());
    live.text('so far');
    live.call('read_file', '{"path":"a"}');
    const look = async () => JSON.parse((await agentdir(home, ['peek', '--json'])).stdout) as Record<string, unknown>[];
    const found = await until(
      look,
      list => list.length === 3 && list[0]?.running === true && list[0].text === 'so far',
    );
    expect(found[0]).toMatchObject({
      session: 's-mute',
      agent: 'planner-001',
      calls: [{name: 'read_file', args: '{"path":"a"}'}],
    });
    daemon.stop();
    expect((await look()).map(({session}) => session)).toEqual(['s-new', 's-old']);
  });

  it('-f follows word by word until Ctrl-C, and says whose words they are', async () => {
    const home = await newHome();
    const all = startAgentdir(home, ['peek', '-f']);
    const json = startAgentdir(home, ['peek', '-f', '--json', '--to', 'planner-001']);
    const one = new LiveOutput(nodeDisk(home), 'one', 'planner-001');
    const two = new LiveOutput(nodeDisk(home), 'two', 'executor-001');
    const shows = (text: string) => until(all.stdout, found => found === text);
    one.begin('t1', after);
    one.text('Hel');
    await shows('planner-001/one │ Hel');
    // The turn is under way: whoever comes late is told of it, too.
    await until(json.stdout, text => text.includes('Hel'));
    one.text('lo');
    await shows('planner-001/one │ Hello');
    two.begin('t2', after);
    two.text('Ho');
    two.call('grep', '{"pattern":"x"}');
    two.end('answered');
    const before = 'planner-001/one │ Hello\nexecutor-001/two │ Ho\nexecutor-001/two │ → grep {"pattern":"x"}\n';
    await shows(before);
    one.text(' you');
    one.end('dropped', 'a person edited it');
    await shows(`${before}planner-001/one │  you\nplanner-001/one │ dropped: a person edited it\n`);
    await until(json.stdout, text => text.includes('"end"'));
    expect(
      json
        .stdout()
        .trim()
        .split('\n')
        .map(line => (JSON.parse(line) as {event: string; agent: string}).agent),
    ).not.toContain('executor-001');
    for (const {child, ended} of [all, json]) {
      child.kill('SIGINT');
      expect((await ended).code).toBe(0);
    }
  });
});
