import {existsSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {LiveOutput} from '../../src/home/live.ts';
import {listSessions} from '../../src/home/session-files.ts';
import {serve} from '../daemon/serve.ts';
import {installed, terminal} from '../daemon/terminal.ts';
import {playDaemon, playSession} from './played-daemon.ts';
import {main, newHome, startAgentdir, until} from './run.ts';

const call = (id: string, name: string, args: string) => ({
  id,
  type: 'function' as const,
  function: {name, arguments: args},
});

/** A home, the test as its daemon, and `send` waiting for an answer. */
async function waiting(...args: string[]) {
  const home = await newHome();
  const daemon = playDaemon(home);
  const sender = startAgentdir(home, ['send', 'Is Redis up?', '--wait', ...args]);
  const session = await daemon.asked('Is Redis up?');
  // It follows from then on.
  await until(() => existsSync(join(home, '.agentdir/live')), Boolean);
  return {home, daemon, sender, session};
}

describe('send --wait', () => {
  it('--no-stream: the answer, and nothing but it, on stdout; calls on stderr', async () => {
    const {sender, session} = await waiting('--no-stream');
    const first = session.turn();
    first.text('Let me look.');
    first.call('execute_command', '{"command":"docker ps"}');
    first.end('answered');
    const tool_calls = [call('c1', 'execute_command', '{"command":"docker ps"}')];
    await session.write({content: 'Let me look.', tool_calls});
    await session.write({role: 'tool_result', tool_call_id: 'c1', content: '{"success":true}'});
    const second = session.turn();
    second.text('Redis ');
    second.text('is up.');
    second.end('answered');
    await session.write({content: 'Redis is up.'}, {status: 'sleeping'});
    expect(await sender.ended).toEqual({
      code: 0,
      stdout: 'Redis is up.\n',
      stderr: '→ execute_command {"command":"docker ps"}\n',
    });
  });

  it('Ctrl-C says that the agent goes on, and how to cancel', async () => {
    const {sender, session} = await waiting();
    const turn = session.turn();
    turn.text('Let me');
    await until(sender.stdout, text => text.includes('Let me'));
    const ended = new Promise(resolve => sender.child.once('close', (_, signal) => resolve(signal)));
    sender.child.kill('SIGINT');
    expect(await ended).toBe('SIGINT');
    expect(sender.stderr()).toContain(`${session.id} keeps working; see its answer with: agentdir peek --session`);
    expect(sender.stderr()).toMatch(/to cancel the turn: agentdir cancel \S+\n$/);
    turn.end('answered');
  });

  it('--json: one value, with the usage of all turns', async () => {
    const {sender, session} = await waiting('--json');
    const usage = {input_tokens: 10, output_tokens: 2, cost_usd: 0.5};
    await session.write({content: null, usage, tool_calls: [call('c1', 'read_file', '{}')]});
    await session.write({role: 'tool_result', tool_call_id: 'c1', content: '{}'});
    await session.write({content: 'Yes.', usage}, {status: 'sleeping'});
    const {code, stdout} = await sender.ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      session: session.id,
      answer: 'Yes.',
      usage: {input_tokens: 20, output_tokens: 4, cost_usd: 1},
      status: 'sleeping',
    });
  });

  it('an answer that was cut off is waited for to its end, and put together', async () => {
    const {sender, session} = await waiting('--no-stream');
    await session.write({content: 'One, two, ', cut: true});
    await session.write({role: 'user', from: 'system', content: 'Go on.'});
    await session.write({content: 'three.'}, {status: 'sleeping'});
    expect(await sender.ended).toMatchObject({code: 0, stdout: 'One, two, three.\n'});
  });

  it('by default: word by word, completed from the file where live output lags', async () => {
    const {sender, session} = await waiting();
    const live = session.turn();
    live.text('Redis ');
    await until(sender.stdout, text => text === 'Redis ');
    live.text('is ');
    await until(sender.stdout, text => text === 'Redis is ');
    await session.write({content: 'Redis is up.\nReally.'}, {status: 'sleeping'});
    expect((await sender.ended).stdout).toBe('Redis is up.\nReally.\n');
  });

  it('by default: live output that comes after the file is not printed again', async () => {
    const {sender, session} = await waiting();
    const late = session.turn();
    await session.write({content: 'One.', tool_calls: [call('c1', 'read_file', '{}')]});
    await until(sender.stdout, text => text === 'One.\n');
    late.text('One.');
    late.end('answered');
    const after = session.turn();
    after.text('Tw');
    await until(sender.stdout, text => text.endsWith('Tw'));
    await session.write({role: 'tool_result', tool_call_id: 'c1', content: '{}'});
    await session.write({content: 'Two.'}, {status: 'sleeping'});
    expect((await sender.ended).stdout).toBe('One.\nTwo.\n');
  });

  it.each(['a pipe', 'a terminal'])(
    'an answer in the file is not shown again when its turn is told of later: %s',
    async on => {
      if (on === 'a terminal' && !installed('script')) return;
      const home = await newHome();
      const daemon = playDaemon(home);
      const line = ['send', 'Is Redis up?', '--wait'];
      const sender = on === 'a pipe' ? startAgentdir(home, line) : undefined;
      const screen = sender ? undefined : terminal(home, `${process.execPath} ${main} send "Is Redis up?" --wait`);
      const session = await daemon.asked('Is Redis up?');
      await session.write({content: 'One.', tool_calls: [call('c1', 'read_file', '{}')]});
      if (sender) await until(sender.stdout, text => text === 'One.\n');
      else await screen?.shows(/One\.\r\n/);
      const late = session.turn(1);
      late.text('One.');
      late.end('answered');
      await session.write({role: 'tool_result', tool_call_id: 'c1', content: '{}'});
      const next = session.turn();
      next.text('Tw');
      if (sender) await until(sender.stdout, text => text.endsWith('Tw'));
      else expect(await screen?.shows(/.*Tw/s)).not.toContain('One');
      next.end('answered');
      await session.write({content: 'Two.'}, {status: 'sleeping'});
      if (sender) expect((await sender.ended).stdout).toBe('One.\nTwo.\n');
      else expect(await screen?.exited).toBe(0);
    },
  );

  it('a turn that begins before the file has one that was missed is shown after that', async () => {
    const {home, sender, session} = await waiting();
    const ahead = new LiveOutput(nodeDisk(home), session.id, 'planner-001');
    ahead.begin('second', {messages: 3, answers: 1});
    ahead.text('Two.');
    ahead.end('answered');
    const tool_calls = [call('c1', 'read_file', '{}')];
    await session.write({content: 'One.', tool_calls});
    await session.write({role: 'tool_result', tool_call_id: 'c1', content: '{}'});
    await session.write({content: 'Two.'}, {status: 'sleeping'});
    expect(await sender.ended).toEqual({code: 0, stdout: 'One.\nTwo.\n', stderr: '→ read_file {}\n'});
  });

  it('the next turn may begin before the file has the one before it', async () => {
    const {sender, session} = await waiting();
    const first = session.turn();
    first.text('Let me look.');
    first.call('read_file', '{}');
    first.end('answered');
    const second = session.turn(3, 1);
    second.text('Redis ');
    await until(sender.stdout, text => text === 'Let me look.\nRedis ');
    await until(sender.stderr, text => text === '→ read_file {}\n');
    await session.write({content: 'Let me look.', tool_calls: [call('c1', 'read_file', '{}')]});
    await session.write({role: 'tool_result', tool_call_id: 'c1', content: '{}'});
    second.text('is up.');
    second.end('answered');
    await session.write({content: 'Redis is up.'}, {status: 'sleeping'});
    expect(await sender.ended).toEqual({
      code: 0,
      stdout: 'Let me look.\nRedis is up.\n',
      stderr: '→ read_file {}\n',
    });
  });

  it('a turn that is dropped or tried again leaves no trace in the answer', async () => {
    const {sender, session} = await waiting('--no-stream');
    const live = session.turn();
    live.text('Wrong');
    live.retry('the connection broke', new Date().toISOString());
    live.text('Also wrong');
    live.end('dropped', 'a person changed the conversation');
    const again = session.turn();
    again.text('Right.');
    again.end('answered');
    await session.write({content: 'Right.'}, {status: 'sleeping'});
    const {code, stdout, stderr} = await sender.ended;
    expect({code, stdout}).toEqual({code: 0, stdout: 'Right.\n'});
    expect(stderr === '' || stderr.includes('the connection broke')).toBe(true);
  });

  it.runIf(installed('script'))('on a terminal what was dropped is erased', async () => {
    const home = await newHome();
    const daemon = playDaemon(home);
    const screen = terminal(home, `${process.execPath} ${main} send "Is Redis up?" --wait`);
    const session = await daemon.asked('Is Redis up?');
    const live = session.turn();
    live.text('Wrong ');
    live.text('answer');
    await screen.shows(/Wrong answer/);
    live.end('dropped', 'a person changed it');
    await screen.shows(/dropped: a person changed it; asked again/);
    const again = session.turn();
    again.text('Right \u001b[31manswer');
    await screen.shows(/Right ⟨U\+001B⟩\[31manswer/);
    again.end('answered');
    await session.write({content: 'Right \u001b[31manswer'}, {status: 'sleeping'});
    expect(await screen.exited).toBe(0);
  });

  it('answers to what came before are not its own', async () => {
    const home = await newHome({
      'sessions/busy.session.yaml':
        'agent_id: planner-001\nstatus: active\nmessages:\n  - role: user\n    content: earlier\n    timestamp: "2026-01-01T00:00:00.000Z"\n',
    });
    const daemon = playDaemon(home);
    const busy = await daemon.asked('earlier');
    const live = busy.turn();
    live.text('to the earlier one');
    const sender = startAgentdir(home, ['send', 'later', '--wait', '--session', 'busy']);
    await daemon.asked('later');
    live.end('answered');
    // The reply goes right after the last message its request contained.
    const text = readFileSync(join(home, busy.path), 'utf8');
    const reply = '  - role: assistant\n    content: to the earlier one\n';
    const at = text.lastIndexOf('  - timestamp');
    writeFileSync(join(home, busy.path), text.slice(0, at) + reply + text.slice(at));
    const own = busy.turn();
    own.text('to the later one');
    own.end('answered');
    await busy.write({content: 'to the later one'}, {status: 'sleeping'});
    expect(await sender.ended).toMatchObject({code: 0, stdout: 'to the later one\n'});
  });

  it('beside a real daemon: the answer is the one in the file, of each message its own', async () => {
    const home = await newHome();
    const daemon = await serve(home);
    for (const text of ['hello', 'and again']) {
      const {code, stdout} = await startAgentdir(home, ['send', text, '--wait', '--timeout', '25']).ended;
      const {messages, header} = playSession(home, listSessions(home)[0] as {id: string; path: string}).read();
      expect({code, status: header?.status}).toEqual({code: 0, status: 'sleeping'});
      expect(messages.at(-1)).toMatchObject({role: 'assistant', content: stdout.replace(/\n$/, '')});
      expect(messages.filter(({role, content}) => role === 'user' && content === text)).toHaveLength(1);
    }
    await daemon.stop();
  });

  it('ends with its own answer even if others go on talking', async () => {
    const {sender, session} = await waiting();
    await session.write({content: 'Yes.'});
    await session.write({role: 'user', from: '@executor-001', content: 'and me?'});
    expect(await sender.ended).toMatchObject({code: 0, stdout: 'Yes.\n'});
  });

  it('exits 3 when it waits for a person, 1 in error', async () => {
    const first = await waiting('--json');
    await first.session.write(
      {content: null, tool_calls: [{...call('c1', 'write_file', '{}'), approval: 'approval-1'}]},
      {status: 'waiting', waiting_for: 'approval-1'},
    );
    const waited = await first.sender.ended;
    expect(waited).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('is waiting for your decision on approval-1'),
    });
    expect(JSON.parse(waited.stdout)).toMatchObject({answer: null, status: 'waiting'});
    const second = await waiting();
    second.session.turn().end('failed', '401');
    await second.session.write(undefined, {status: 'error', error: 'the key is wrong: set OPENAI_API_KEY'});
    expect(await second.sender.ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('is in error: the key is wrong: set OPENAI_API_KEY'),
    });
    const third = await waiting();
    await third.session.write(undefined, {status: 'paused'});
    expect(await third.sender.ended).toMatchObject({code: 3, stderr: expect.stringContaining('is paused')});
  });

  it('--timeout; a daemon that stops; a message that is removed; a file that gets errors', async () => {
    const late = await waiting('--timeout', '1');
    expect(await late.sender.ended).toMatchObject({code: 1, stderr: expect.stringContaining('no answer yet')});
    const stopped = await waiting();
    stopped.daemon.stop();
    const removed = await waiting();
    rmSync(join(removed.home, removed.session.path));
    const broken = await waiting();
    writeFileSync(join(broken.home, broken.session.path), 'agent_id: [');
    expect(await stopped.sender.ended).toMatchObject({code: 5, stderr: expect.stringContaining('the daemon stopped')});
    expect(await removed.sender.ended).toMatchObject({code: 1, stderr: expect.stringContaining('no longer in')});
    expect(await broken.sender.ended).toMatchObject({code: 4, stderr: expect.stringContaining(broken.session.path)});
  });
});
