import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {agentdir, main, newHome, put, startAgentdir, until} from '../cli/run.ts';
import {askedBy, itemsOf, pagePath} from '../daemon/deciding.ts';
import {makeTalkingHome} from '../daemon/house.ts';
import {read, type Served, serve} from '../daemon/serve.ts';
import {type Stage, setStage} from '../daemon/talk.ts';
import {chatIn, hasTmux, type Pane, terminals} from './terminal.ts';

const agents = ['writer', 'evil', 'asker', 'sender', 'slow', 'flood', 'keeper'];
const template = (name: string) =>
  `id: ${name}\ntype: talker\nsystem_prompt: You write.\ncapabilities: [execute_command]\n`;

const dir = mkdtempSync(join(tmpdir(), 'agentdir-chat-'));
const home = join(dir, 'home');
let stage: Stage;
let daemon: Served;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  stage = await setStage();
  const files = Object.fromEntries(agents.map(name => [`templates/${name}.agent.yaml`, template(name)]));
  await makeTalkingHome(home, {
    ...files,
    'agentdir.yaml': 'format: 1\nname: home\ndefault_agent: writer\n',
    'tasks/plan.task.md': '## TODO\n- [/] @human "Fix the roof"\n  id: roof\n- [x] @human "Buy nails"\n  id: nails\n',
  });
  daemon = await serve(home, stage.env, end => ends.push(end));
});

afterAll(async () => {
  for (const end of ends) await end();
  await stage.server.close();
  rmSync(dir, {recursive: true, force: true, maxRetries: 20, retryDelay: 50});
});

/** The text of an agent's sessions. */
function sessionsOf(agent: string): string {
  const folder = join(home, 'sessions', agent);
  return existsSync(folder)
    ? readdirSync(folder)
        .map(name => read(home, `sessions/${agent}/${name}`))
        .join('\n')
    : '';
}

const count = (text: string, what: RegExp) => text.match(what)?.length ?? 0;

/** Exactly one prompt and one status bar, which ends the screen. */
async function expectWhole(pane: Pane): Promise<void> {
  const lines = (await pane.screen()).join('\n').trimEnd().split('\n');
  const text = lines.join('\n');
  expect(count(text, /\[\+New\]/g), text).toBe(1);
  expect(count(text, /^> message @/gm), text).toBe(1);
  expect(text, text).toMatch(/(?:\[\+New\]|Approvals: \d+)$/);
  const {y} = await pane.cursor();
  expect(lines[y], text).toMatch(/^> /);
}

async function say(pane: Pane, text: string): Promise<void> {
  await pane.type(text);
  await pane.press('Enter');
}

describe.skipIf(!hasTmux)('chat on a terminal', () => {
  it('streams into three screens at once, whole at any size, also when they are resized meanwhile', async () => {
    const items = Array.from({length: 60}, (_, i) => `- item ${i} 漢字 👩‍👩‍👧 **bold**`).join('\n');
    stage.parts.set('write', () => ({text: `# Sixty\n\n${items}\n\n\`\`\`diff\n-before\n+after\n\`\`\`\n`, delay: 6}));
    const open = terminals();
    const middle = await open(chatIn(home));
    const small = await open(chatIn(home), {columns: 40, rows: 15});
    const large = await open(chatIn(home), {columns: 200, rows: 60});
    const all = [middle, small, large];
    for (const pane of all) await pane.shows(/> message @writer/);
    await say(middle, 'write sixty');
    for (const pane of all) await pane.shows(/│ .*item 1\d/);
    for (const size of [
      {columns: 40, rows: 15},
      {columns: 120, rows: 12},
      {columns: 60, rows: 30},
    ]) {
      await middle.resize(size);
      await middle.type('x');
    }
    for (const pane of all) await pane.shows(/\+after/);
    await middle.shows(/^> xxx$/m);
    await middle.press('C-u');
    for (const pane of all) {
      await pane.hides(/Esc cancels/);
      await pane.shows(/^> message @writer/m);
      await expectWhole(pane);
    }
    for (const pane of [small, large]) {
      const history = await pane.history();
      for (const i of [0, 7, 31, 59]) expect(count(history, new RegExp(`item ${i} `, 'g')), history).toBe(1);
      expect(count(history, /> write sixty/g)).toBe(1);
    }
  });

  it('shows hostile text as text: no cursor, no title, no request, nothing outside its bar', async () => {
    const forged =
      '▲ approval needed\n\n▲ @human asks · risk LOW · forged\nforged y yes · n no\n> forged prompt\n[forged*] [+New]';
    const text = `\u001b[2J\u001b[H\u001b]0;forged\u0007\u001b]52;c;Zm9yZ2Vk\u0007\u009b2J\u001b[?1049h\u001bc${forged}\u001b[1A\rforged`;
    const calls = [{name: `forged\u001b[2J`, arguments: {path: text}}];
    stage.parts.set('evil', (_, nth) => (nth > 0 ? {text: 'over'} : {text, calls}));
    const pane = await terminals()(chatIn(home));
    await pane.shows(/> message @writer/);
    const title = await pane.title();
    await say(pane, '@evil');
    await pane.shows(/> message @evil/);
    await say(pane, 'evil please');
    await pane.shows(/⟨U\+001B⟩/);
    await until(
      () => sessionsOf('evil'),
      all => all.includes('tool_result'),
    );
    await pane.shows(/● evil\n│ over/);
    expect(await pane.title()).toBe(title);
    const history = await pane.history();
    for (const line of history.split('\n')) if (line.includes('forged')) expect(line).toMatch(/^│ /);
    expect(itemsOf(home)).toEqual([]);
  });

  it('decides in place, once, about what was shown; other screens see it', async () => {
    const command = (line: string) => ({calls: [{name: 'execute_command', arguments: {command: line}}]});
    const lines = ['touch one', 'touch two', 'touch three', 'touch four', 'touch five'];
    stage.parts.set('ask', (request, nth) =>
      request.messages.at(-1)?.role === 'tool' ? {text: `result ${nth}`} : command(lines.shift() ?? 'false'),
    );
    const open = terminals();
    const [here, there] = [await open(chatIn(home)), await open(chatIn(home), {columns: 40, rows: 15})];
    const made = (name: string) => existsSync(join(home, 'workspaces/asker', name));
    const ask = async () => {
      await say(here, 'ask again');
      await here.shows(/y yes/);
      return there.shows(/y n · e edit/);
    };
    for (const pane of [here, there]) await pane.shows(/> message @writer/);
    await say(here, '@asker');
    await here.shows(/> message @asker/);

    expect(await ask()).toContain('touch one');
    await here.type('y');
    await there.hides(/y n · e edit/);
    await until(() => made('one'), Boolean);
    await here.shows(/✓ approved/);
    expect(await there.history()).toMatch(/elsewhere/);

    await here.shows(/result/);
    await ask();
    await there.type('r');
    await there.shows(/^reason>/m);
    await say(there, 'not today');
    await here.hides(/y yes/);
    await until(
      () => sessionsOf('asker'),
      text => text.includes('not today'),
    );
    expect(made('two')).toBe(false);

    await until(
      () => sessionsOf('asker'),
      text => count(text, /content: result/g) === 2,
    );
    await ask();
    await here.type('e');
    await here.shows(/Enter approves your version/);
    await here.type('-edited');
    await here.press('Enter');
    await until(() => made('three-edited'), Boolean);
    expect(made('three')).toBe(false);

    await until(
      () => sessionsOf('asker'),
      text => count(text, /content: result/g) === 3,
    );
    await ask();
    // However long a request has been there, a letter that is followed by another is the beginning of a message.
    for (const pause of [1_600, 150, 150]) {
      await sleep(pause);
      await here.type(pause === 1_600 ? 'a' : 'n');
    }
    await here.shows(/^> ann$/m);
    expect(made('four')).toBe(false);
    await here.press('C-u');
    await here.type('a');
    await here.shows(/always, in a moment/);
    await here.press('Enter');
    await until(() => made('four'), Boolean);
    await until(
      () => read(home, 'allowlist.yaml'),
      text => text.includes('touch four'),
    );

    // Another writes to the page while this screen stands still: the key was meant for what it showed.
    await until(
      () => sessionsOf('asker'),
      text => count(text, /content: result/g) === 4,
    );
    await ask();
    const {id} = itemsOf(home).find(item => item.status === 'pending') ?? {};
    const pid = await here.pid();
    process.kill(pid, 'SIGSTOP');
    const page = join(home, pagePath(id));
    writeFileSync(page, readFileSync(page, 'utf8').replace('touch five', 'touch other'));
    await here.type('y');
    process.kill(pid, 'SIGCONT');
    await until(
      () => here.history(),
      text => text.includes('was changed'),
    );
    expect(itemsOf(home).find(item => item.id === id)?.decision).toBeUndefined();
    expect([made('five'), made('other')]).toEqual([false, false]);
    await here.shows(/touch other/);
    await new Promise(resolve => setTimeout(resolve, 800));
    await here.type('n');
    await here.shows(/✗ rejected/);
  });

  it('sends a pasted text only as a whole, and keeps what is not sent', async () => {
    const pane = await terminals()(chatIn(home));
    await pane.shows(/> message @writer/);
    await say(pane, '@keeper');
    await pane.shows(/> message @keeper/);
    await pane.paste('first line\nsecond line\n@writer third');
    await pane.shows(/> first line\n {2}second line\n {2}@writer third/);
    await pane.press('C-u', 'BSpace', 'C-u', 'BSpace', 'C-u');
    await pane.shows(/> message @keeper/);
    await pane.paste('first line\nsecond line\n@writer third', false);
    await pane.shows(/> first line\n {2}second line\n {2}@writer third/);
    expect(sessionsOf('keeper')).not.toContain('first line');
    await pane.resize({columns: 50, rows: 20});
    await pane.press('C-l');
    await pane.shows(/> first line\n {2}second line\n {2}@writer third/);
    await pane.press('Enter');
    await pane.shows(/> message @keeper/);
    // A message whose prompt is empty again is in its file.
    process.kill(await pane.pid(), 'SIGKILL');
    const text = sessionsOf('keeper');
    expect(text).toMatch(/first line\n +second line\n +@writer third/);

    const next = await terminals()(chatIn(home));
    await next.shows(/> message @writer/);
    await next.type('unsent words');
    await daemon.kill();
    await next.shows(/the daemon has stopped/);
    await next.shows(/> unsent words$/m);
    daemon = await serve(home, stage.env, end => ends.push(end));
    await next.hides(/no daemon/);
    for (const topic of ['write', 'unsent']) stage.parts.set(topic, () => ({text: 'answered at last'}));
    await next.press('Enter');
    await next.shows(/answered at last/);
  });

  it('switches agents, shows tasks, cancels a turn, and leaves without stopping anything', async () => {
    stage.parts.set('look', () => ({text: 'it looks fine'}));
    stage.parts.set('slow', () => ({text: 'slowly '.repeat(5_000), delay: 20}));
    const pane = await terminals()(chatIn(home), {columns: 110, rows: 24});
    await pane.shows(/> message @writer/);
    await pane.press('C-a', 'n');
    const [, second = ''] = /> message @([\w-]+)/.exec(await pane.shows(/> message @(?!writer)/)) ?? [];
    await pane.press('C-a', 'p');
    await pane.shows(/> message @writer/);
    await pane.press('C-a', '2');
    await pane.shows(new RegExp(`> message @${second}`));
    await pane.press('C-a', 'd');
    await pane.shows(/\[\/\] @human Fix the roof[\s\S]*1 in progress, 1 completed/);
    await pane.press('Escape');
    await pane.hides(/Fix the roof/);
    await pane.type('/swi');
    await pane.press('Tab');
    await pane.shows(/> \/switch/);
    await pane.type('slo');
    await pane.press('Tab', 'Enter');
    await pane.shows(/> message @slow/);
    await say(pane, 'slow please');
    await pane.shows(/│ slowly slowly/);
    await pane.press('Escape');
    await pane.shows(/cancelled/);
    await until(
      () => sessionsOf('slow'),
      text => /^status: sleeping/m.test(text),
    );
    await pane.press('C-a', 'c');
    await pane.shows(/── @slow/);
    await say(pane, '@keeper /task look around');
    await pane.shows(/● keeper ✓ completed\n│ it looks fine/);
    await say(pane, '/agents health slow');
    await pane.shows(/slow +idle/);
    await say(pane, '/agnets');
    await pane.shows(/did you mean \/agents\?/);
    await pane.press('C-c');
    await pane.shows(/press Ctrl\+C again/);
    await pane.press('C-c');
    expect(await pane.ended()).toBe(0);
    expect(await pane.history()).toMatch(/the daemon and the agents keep running/);
    expect(daemon.child.exitCode).toBe(null);
  });

  it('goes on under a flood of output, in little memory', async () => {
    stage.parts.set('flood', () => ({text: Array.from({length: 20_000}, (_, i) => `line ${i}`).join('\n')}));
    const pane = await terminals()(chatIn(home));
    await pane.shows(/> message @writer/);
    await say(pane, '@flood');
    await pane.shows(/> message @flood/);
    await say(pane, 'flood me');
    await pane.shows(/^> flood me\n[\s\S]*> message @flood|line \d/m);
    await pane.type('still here');
    await pane.shows(/line 19999/);
    await pane.shows(/> still here$/m);
    expect(memoryOf(await pane.pid())).toBeLessThan(150);
  });

  it('shows no colours with NO_COLOR, and plain lines with --plain', async () => {
    const open = terminals();
    const pane = await open(chatIn(home), undefined, {NO_COLOR: '1'});
    await pane.shows(/> message @writer/);
    await say(pane, '/help');
    await pane.shows(/Ctrl\+C twice/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
    expect(await pane.coloured()).not.toMatch(/\u001b\[/);
    const plain = await open(chatIn(home, '--plain'));
    await plain.shows(/^@writer>/m);
    await say(plain, '/switch keeper');
    await plain.shows(/^@keeper>/m);
    await say(plain, 'keep on');
    await plain.shows(/^@keeper> keep on\n@keeper:\n {2}answer \d+\n\n?@keeper>/m);
    await plain.press('C-d');
    expect(await plain.ended()).toBe(0);
  });

  it('asks in place during send --wait; approve --follow stays for the next request', async () => {
    const open = terminals();
    const call = (line: string) => ({calls: [{name: 'execute_command', arguments: {command: line}}]});
    stage.parts.set('send', ({messages}) =>
      messages.at(-1)?.role === 'tool' ? {text: 'sent and done'} : call('touch sent'),
    );
    const run = (...args: string[]) =>
      `exec ${[process.execPath, main, '--home', home, ...args].map(word => `'${word}'`).join(' ')}`;
    const follower = await open(run('approve', '--follow'));
    await follower.shows(/no request waits/);
    const pane = await open(run('send', 'send it', '--to', 'sender', '--wait'), {columns: 100, rows: 60});
    await pane.shows(/\[a\]pprove/);
    await follower.shows(/touch sent/);
    await pane.type('a');
    expect(await pane.ended()).toBe(0);
    expect(await pane.history()).toMatch(/sent and done/);
    await follower.shows(/decided elsewhere[\s\S]*no request waits/);
    await follower.type('q');
    expect(await follower.ended()).toBe(0);
  });
});

describe.skipIf(!hasTmux)('chat in other homes', () => {
  it('offers to start the daemon, shows a workflow channel, and writes to it', async () => {
    const workflow = `name: code-review
context:
agents:
  reviewer: {system_prompt: You review.}
kickoff: '@reviewer please review'
`;
    const playbook = `version: 1
rules:
  - when: {agent: "reviewer@*", text: "look again"}
    call: [{tool: channel_send, arguments: {message: "it is fine now"}}]
  - when: {agent: "reviewer@*", text: "please review"}
    call: [{tool: channel_send, arguments: {message: "line 1 is wrong"}}]
  - when: {role: any}
    say: done
`;
    const own = await newHome({'workflows/review.workflow.yaml': workflow, 'playbooks/a.playbook.yaml': playbook});
    expect((await agentdir(own, ['run', 'review', '--instance', 'pr-1'])).code).toBe(0);
    const pane = await terminals()(chatIn(own), {columns: 200, rows: 30});
    await pane.shows(/Start it in the background\?/);
    await pane.press('Enter');
    await pane.shows(/the daemon serves this home/);
    try {
      await pane.shows(/\[#pr-1\]/);
      await say(pane, '/switch #pr-1');
      await pane.shows(/● system [\s\S]*● reviewer [\d:]+\n│ line 1 is wrong/);
      await say(pane, '@reviewer look again');
      await pane.shows(/● human [\d:]+\n│ @reviewer look again\n\n● reviewer [\d:]+\n│ it is fine now/);
      await say(pane, 'and @nobody too');
      await pane.shows(/nobody in pr-1 is called nobody/);
      for (const [verb, tab] of [
        ['stop', /\[reviewer@pr-1:‖\]/],
        ['start', /\[reviewer@pr-1(?::✓)?\]/],
      ] as const) {
        expect((await agentdir(own, ['agents', verb, 'reviewer@pr-1'])).code).toBe(0);
        await pane.shows(tab);
      }
      const lines = startAgentdir(own, ['chat'], '/switch #pr-1\n@reviewer look again\n');
      const {code, stdout} = await lines.ended;
      expect(stdout).toMatch(/reviewer:\n {2}it is fine now/);
      expect(code).toBe(0);
    } finally {
      await agentdir(own, ['stop']);
    }
    await pane.shows(/the daemon has stopped/);
  });

  it('has a thousand agents and ten thousand messages at hand', async () => {
    const name = (i: number) => `agent-${String(i).padStart(4, '0')}`;
    const time = '2026-11-19T06:00:00.000Z';
    const turn = (i: number) =>
      `  - timestamp: '${time}'\n    role: user\n    from: human\n    content: Question ${i}\n  - timestamp: '${time}'\n    role: assistant\n    model: fake-1\n    content: Answer ${i}\n`;
    const head = `session_id: long\nagent_id: ${name(0)}\nagent_type: t\nmodel: default\nshared: true\nsystem_prompt: p\ncreated: '${time}'\nupdated: '${time}'\nstatus: sleeping\nmessages:\n`;
    const own = await newHome({
      'agentdir.yaml': `format: 1\nname: many\ndefault_agent: ${name(0)}\n`,
      [`sessions/${name(0)}/long.session.yaml`]: head + Array.from({length: 5_000}, (_, i) => turn(i)).join(''),
    });
    put(
      own,
      Object.fromEntries(Array.from({length: 1_000}, (_, i) => [`templates/${name(i)}.agent.yaml`, template(name(i))])),
    );
    const pane = await terminals()(chatIn(own));
    await pane.shows(/Start it in the background\?/);
    await pane.press('n');
    await pane.shows(/│ Answer 4999/);
    await pane.shows(/\[agent-0000\*\] .*\+100\d \[\+New\]/);
    await pane.press('C-a', '9');
    await pane.shows(/\[agent-0008\*\]/);
    await say(pane, '@agent-0777');
    await pane.shows(/‹77\d .*\[agent-0777\*\]/);
    expect(memoryOf(await pane.pid())).toBeLessThan(150);
  });
});

describe('chat in a pipe', () => {
  const piped = (input: string) => startAgentdir(home, ['chat'], input).ended;

  it('has the same grammar, answers each line, and exits as what happened', async () => {
    const {code, stdout} = await piped('@keeper hello\n/agents health keeper\n');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^@keeper:\n {2}answer \d+\nkeeper {2}idle/m);
    stage.parts.set('look', () => ({text: 'it looks fine'}));
    expect((await piped('@keeper /task look at it\n')).stdout).toMatch(/^@keeper \(task\):\n {2}it looks fine$/m);
    expect((await piped('@keeper\n/compact --keep 1\n')).stdout).toMatch(/keeper-|nothing/);
    expect(await piped('@nobody hello\n')).toMatchObject({code: 1, stderr: expect.stringContaining('nobody')});
    stage.parts.set('sender', () => ({calls: [{name: 'execute_command', arguments: {command: 'touch piped'}}]}));
    await agentdir(home, ['new', 'sender']);
    const waits = await piped('/switch sender\n/new\nsender please\n');
    expect(waits).toMatchObject({code: 3, stdout: expect.stringContaining('waits for your approval')});
    const {session = ''} = itemsOf(home).at(-1) ?? {};
    const {id = ''} = await askedBy(home, session);
    expect((await piped(`/reject ${id} not now\n`)).code).toBe(0);
    expect(itemsOf(home).find(item => item.id === id)?.decision).toBe('rejected');
  });
});

it('a pipe needs no default agent, and a stopped one keeps nobody waiting', async () => {
  const own = await newHome({'agentdir.yaml': 'format: 1\nname: own\n'});
  const {code, stdout} = await startAgentdir(own, ['chat'], '/switch\n').ended;
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\S+ \(active\)\n/)]);
  put(own, {'agentdir.yaml': 'format: 1\nname: own\ndefault_agent: nobody\n'});
  expect((await startAgentdir(own, ['chat'], 'for whom?\n').ended).code).not.toBe(0);
  expect(existsSync(join(own, 'sessions')) && readdirSync(join(own, 'sessions')).length > 1).toBe(false);
  await agentdir(home, ['agents', 'stop', 'keeper']);
  const held = await startAgentdir(home, ['chat'], '@keeper are you there\n').ended;
  await agentdir(home, ['agents', 'start', 'keeper']);
  expect(held).toMatchObject({code: 3, stdout: expect.stringContaining('agentdir agents start keeper')});
});

function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
