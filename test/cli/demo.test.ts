import {type ChildProcess, spawn} from 'node:child_process';
import {existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {describe, expect, it, onTestFinished} from 'vitest';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {daemonOf} from '../../src/home/status.ts';
import {linesOf} from './connector.ts';
import {agentdir, environment, git, main, temporary, thorough, until} from './run.ts';

interface Step {
  step: string;
  [key: string]: unknown;
}

/** The demo with --json, to look at while it runs, and what became of it. */
function startDemo(args: readonly string[] = []) {
  const place = temporary();
  const child: ChildProcess = spawn(process.execPath, [main, 'demo', '--json', ...args], {
    cwd: place,
    env: {...environment, TMPDIR: place},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const steps: Step[] = [];
  createInterface({input: child.stdout as NodeJS.ReadableStream}).on('line', line => {
    steps.push(JSON.parse(line) as Step);
  });
  const exited = new Promise<number | string | null>(resolve =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const saw = async (step: string, nth = 0): Promise<Step> => {
    const found = () => steps.filter(each => each.step === step)[nth];
    await until(
      () => ({steps, code: child.exitCode}),
      ({code}) => found() !== undefined || code !== null,
    );
    return found() ?? {step: `none, but ${JSON.stringify(steps)}`};
  };
  return {child, steps, saw, exited};
}

/** As a person does with an editor: the line that was named, and nothing else. */
function edit({file, line}: Step, box: string): void {
  const lines = readFileSync(String(file), 'utf8').split('\n');
  const at = Number(line) - 1;
  expect(lines[at]).toMatch(/^- \[_\] /);
  lines[at] = String(lines[at]).replace('[_]', `[${box}]`);
  writeFileSync(String(file), lines.join('\n'));
}

const noDaemon = (home: string) =>
  until(
    () => daemonOf(nodeDisk(home))?.pid,
    pid => pid === undefined,
  );

describe('agentdir demo', () => {
  it('--auto: tells the story from a line in the inbox to the answer, offline, and leaves a sound home', async () => {
    const place = temporary();
    // Whatever else is set on this machine.
    const env = {OPENAI_API_KEY: 'sk-of-the-person-1234567890', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1'};
    const more = {SLACK_BOT_TOKEN: 'xoxb-of-the-person-1234567890', AGENTDIR_HOME: '/nowhere', TMPDIR: place};
    const {code, stdout, stderr} = await agentdir(place, ['demo', '--auto'], {...environment, ...env, ...more});
    expect([code, stderr]).toEqual([0, '']);
    for (const line of stdout.split('\n').filter(each => !each.includes(place)))
      expect(line.length, line).toBeLessThanOrEqual(80);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/^ {4}.*agentdir verify\n {8}did anything run/m);
    const home = join(place, readdirSync(place).find(name => name.startsWith('agentdir-demo-')) ?? '');
    for (const part of [
      '+ {"text": "Can you check if Redis is running?"',
      '+   - [ ] B @retriever-001',
      'Your turn, box 1 of 2.',
      'Your turn, box 2 of 2.',
      '"stdout":"Up 2 hours\\n"',
      '#ops, in the thread: Redis is running: Up 2 hours.',
      `export AGENTDIR_HOME=${home}`,
      'init ~/agents',
    ])
      expect(stdout).toContain(part);
    // By people's own commands: it is a home like any other.
    expect((await agentdir(home, ['verify'])).stdout).toMatch(/^nothing ran without approval/);
    expect((await agentdir(home, ['check'])).code).toBe(0);
    expect(await git(home, 'status', '--porcelain')).toBe('');
    expect((await agentdir(home, ['show', 'slack'])).code).toBe(0);
    // The schemas speak of what may be interrupted.
    const log = await git(home, 'log', '-p', '--', '.', ':!schemas');
    for (const secret of ['of-the-person', 'xoxb-']) expect(log).not.toContain(secret);
    expect(log).not.toContain('interrupted');
    expect(linesOf(home, 'slack-messages.jsonl').map(({direction}) => direction)).toEqual([undefined, 'out']);
    expect(daemonOf(nodeDisk(home))).toBeUndefined();
  });

  it('waits for the person, who ticks in the file what is named, and may say no', async () => {
    const {steps, saw, exited} = startDemo();
    const first = await saw('your-turn');
    expect(first).toMatchObject({box: 1, of: 2, title: expect.stringContaining('./docker ps')});
    expect(steps.map(({step}) => step)).not.toContain('ran');
    edit(first, 'x');
    expect(await saw('command-approved')).toMatchObject({author: 'Ada'});
    const second = await saw('your-turn', 1);
    edit(second, '-');
    expect(await exited).toBe(0);
    const names = steps.map(({step}) => step);
    expect(names).toEqual([
      ...['begin', 'asked', 'delivered', 'planned', 'found', 'command-asked', 'your-turn', 'command-approved', 'ran'],
      ...['checked', 'validated', 'answer-asked', 'your-turn', 'answer-rejected', 'end'],
    ]);
    const end = steps.at(-1);
    expect(end).toMatchObject({sent: [], tasks: [{box: 'x'}, {box: 'x'}, {box: 'x'}, {box: 'x'}]});
    expect(daemonOf(nodeDisk(String(end?.home)))).toBeUndefined();
  });

  it('says what is in the way, and writes nothing there', async () => {
    const place = temporary();
    const nowhere = await agentdir(place, ['demo', '--auto'], {...environment, TMPDIR: join(place, 'none')});
    expect([nowhere.code, nowhere.stdout]).toEqual([1, '']);
    expect(nowhere.stderr).toMatch(/cannot create a folder for the demo in .*none: .*\n.*--dir DIR/);
    mkdirSync(join(place, 'full'));
    writeFileSync(join(place, 'full/mine'), 'mine');
    const full = await agentdir(place, ['demo', '--auto', '--dir', 'full']);
    expect([full.code, full.stderr]).toEqual([2, expect.stringContaining('is not empty')]);
    expect(readdirSync(join(place, 'full'))).toEqual(['mine']);
  });

  it.runIf(thorough)('takes its daemon along, however it ends; a no to the command ends the story', async () => {
    const [interrupted, killed, refused] = [startDemo(), startDemo(), startDemo(['--dir', 'here'])];
    const home = String((await interrupted.saw('begin')).home);
    await interrupted.saw('your-turn');
    expect(daemonOf(nodeDisk(home))).toBeDefined();
    interrupted.child.kill('SIGINT');
    expect(await interrupted.exited).toBe('SIGINT');
    expect(interrupted.steps.at(-1)).toEqual({step: 'stopped', home});
    expect(daemonOf(nodeDisk(home))).toBeUndefined();
    expect(existsSync(join(home, 'tasks/approvals.task.md'))).toBe(true);

    const other = String((await killed.saw('begin')).home);
    await killed.saw('your-turn');
    expect(daemonOf(nodeDisk(other))).toBeDefined();
    killed.child.kill('SIGKILL');
    await noDaemon(other);

    edit(await refused.saw('your-turn'), '-');
    expect(await refused.exited).toBe(0);
    expect(refused.steps.map(({step}) => step).slice(-3)).toEqual(['command-rejected', 'blocked', 'end']);
    expect(String(refused.steps.at(-1)?.home)).toMatch(/\/here$/);
  });
});
