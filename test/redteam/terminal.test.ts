import {spawnSync} from 'node:child_process';
import {describe, expect, it} from 'vitest';
import {agentdir, environment, main, put, until} from '../cli/run.ts';
import {askedBy} from '../daemon/deciding.ts';
import {openHouse} from '../daemon/house.ts';
import {read} from '../daemon/serve.ts';
import {atRest, begin, whenIt} from '../daemon/talk.ts';

/** Colours, a title, a link, the clipboard, cursor keys, and the same in one byte (C1); a bell, a backspace. */
const EVIL =
  '\u001b[2J\u001b[31mred\u001b]0;title\u0007\u001b]8;;http://evil\u001b\\link\u001b]52;c;aGk=\u0007\u009b2J\u009d0;x\u009c\u0008\u007f\r\u202eevil';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters.
const RAW = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/;

const house = openHouse(() => ({
  'templates/talker.agent.yaml': `id: talker\ntype: talker\nsystem_prompt: ${JSON.stringify(`You are ${EVIL}`)}\ndescription: ${JSON.stringify(EVIL)}\ncapabilities: [create_file, write_file, create_task, ask_human, execute_command]\n`,
  'allowlist.yaml': 'version: 1\ntools: {create_file: allow, write_file: ask}\n',
}));

/** What the command prints into a pipe. */
async function printed(...args: string[]): Promise<string> {
  const {stdout, stderr} = await agentdir(house.home, args);
  return stdout + stderr;
}

const raw = (text: string) => RAW.exec(text)?.[0] && JSON.stringify(text.slice(0, 2_000));

describe('control characters of an agent', () => {
  it('reach no pipe from send --wait, streamed or not, as text or as JSON', async () => {
    house.stage.parts.set('pipe', () => ({text: `an answer ${EVIL}`}));
    for (const options of [[], ['--no-stream'], ['--json']]) {
      const {stdout, code} = await agentdir(house.home, ['send', 'pipe', '--to', 'talker', '--wait', ...options]);
      expect(code).toBe(0);
      expect(stdout).toContain('an answer');
      expect(raw(stdout), options.join()).toBeUndefined();
      if (options.includes('--json')) expect((JSON.parse(stdout) as {answer: string}).answer).toBe(`an answer ${EVIL}`);
    }
  });

  it('reach no pipe from any other command', async () => {
    const {home, stage} = house;
    const calls = [
      {name: 'create_file', arguments: {path: 'evil.txt', content: `${EVIL}\n`}},
      {
        name: 'create_task',
        arguments: {title: `a task ${EVIL}`, assignee: 'talker', prompt: EVIL, approval_required: true},
      },
      {name: `no_${EVIL}`, arguments: {x: EVIL}},
    ];
    const last = [
      {name: 'ask_human', arguments: {question: EVIL, options: [EVIL]}},
      {name: 'execute_command', arguments: {command: `echo ${EVIL}`, reason: EVIL}},
    ];
    stage.parts.set('evil', (_, nth) =>
      nth === 0 ? {text: EVIL, calls} : nth === 1 ? {text: EVIL} : {text: EVIL, calls: last},
    );
    begin(home, 'evil', 'evil');
    await whenIt(home, 'evil', atRest);
    const {stdout: sent} = await agentdir(home, ['send', EVIL, '--session', 'evil']);
    expect(raw(sent)).toBeUndefined();
    const {id = ''} = await askedBy(home, 'evil', 1);
    put(home, {
      'tasks/evil.task.md': `- [ ] @nobody ${JSON.stringify(EVIL)}\n  id: evil-task\n  note_to_self: ${EVIL.replaceAll('\r', '')}\n`,
      'inbox/evil.jsonl': `${JSON.stringify({text: EVIL, from: EVIL, to: EVIL})}\n${EVIL}\n`,
    });
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('rejected'),
    );
    const commands = [
      'list',
      'list --json',
      'peek',
      'peek --json',
      'peek --session evil --json',
      'show evil',
      'show evil --json',
      `show ${id}`,
      'log',
      'log --json',
      'log evil',
      'tasks',
      'tasks --json',
      'tasks|SELECT * FROM tasks',
      'tasks|SELECT * FROM notes',
      'tasks|SELECT * FROM approvals',
      'tasks|SELECT * FROM tasks|--json',
      'task note evil-task hello',
      'approvals',
      'approvals --all',
      'approvals --json',
      `approvals ${id}`,
      `approvals ${id} --json`,
      'agents',
      'agents --json',
      'agents --all',
      'agents health',
      'agents health --json',
      'sessions',
      'sessions --json',
      'cost',
      'cost --by model',
      'cost --json',
      'models',
      'models --json',
      'agent',
      'agent --json',
      'agent talker',
      'agent talker --json',
      'check',
      'check --json',
      'status',
      'status --json',
      'doctor',
      'doctor --json',
      'verify',
      'verify --json',
      'replay evil',
      'replay evil --json',
      'workspace diff talker',
      'workspace diff talker --json',
      'workspace log talker',
      'workspace log talker --json',
      `policy explain|echo ${EVIL}`,
      `policy explain|echo ${EVIL}|--json`,
      'policy test',
      'policy what-if allowlist.yaml',
      'policy what-if allowlist.yaml --json',
      'fork evil',
      `send|hello|--session|no${EVIL}`,
      `show|no${EVIL}`,
      `task|done|no${EVIL}`,
      `${EVIL}`,
      `list|--${EVIL}`,
      'undo evil --dry-run',
      `reject ${id} --reason no`,
    ];
    for (const command of commands) {
      const args = command.includes('|')
        ? command.split('|').flatMap((part, i) => (i === 0 ? part.split(' ') : [part]))
        : command === EVIL
          ? [EVIL]
          : command.split(' ');
      const text = await printed(...args);
      expect.soft(raw(text), JSON.stringify(command)).toBeUndefined();
      expect(text).not.toBe('');
    }
    // What follows the daemon's work, for a moment.
    for (const follow of [
      ['peek', '-f'],
      ['peek', '-f', '--json'],
      ['log', '-f'],
    ]) {
      const {stdout} = spawnSync(process.execPath, [main, ...follow], {
        cwd: home,
        env: environment,
        timeout: 1_500,
        encoding: 'utf8',
      });
      expect.soft(raw(stdout), follow.join(' ')).toBeUndefined();
    }
    expect(raw(house.daemon.errors())).toBeUndefined();
  });
});
