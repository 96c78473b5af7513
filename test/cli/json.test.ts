import {spawn} from 'node:child_process';
import type {Command} from 'commander';
import {describe, expect, it, onTestFinished} from 'vitest';
import {aboutOf} from '../../src/surfaces/cli/about.ts';
import {pathOf} from '../../src/surfaces/cli/command-words.ts';
import {buildCommands} from '../../src/surfaces/cli/commands.ts';
import {agentdir, environment, git, main, newHome, until} from './run.ts';

const TASKS = '## TODO\n\n- [ ] A @planner-001 "Is Redis up?"\n  id: redis-check\n- [ ] @human "Decide"\n';
const APPROVALS = `## TODO

- [_] A @human #approval "Approve command: ls > x"
  id: wk2bjbg2hcfd
  type: approval_request
  approval_type: question
  agent: planner-001
  created: 2026-01-01T00:00:00.000Z
  status: pending
`;
const SESSION = 'agent_id: planner-001\nstatus: paused\nmessages:\n  - role: user\n    content: Is Redis up?\n';
const WORKFLOW = 'agents:\n  coder: {system_prompt: You write code.}\nkickoff: "@coder begin"\n';
const INSTANCE = `workflow: none
name: i
instance: i
status: idle
started: 2026-01-01T00:00:00.000Z
context: {channel: true, document: true}
agents: {coder: coder.i}
definitions: {coder: {template: coder}}
`;
const OLD_WORKFLOW = 'agents:\n  coder: {system_prompt: You write code.}\ntasks:\n  - {send: begin, to: coder}\n';

/**
 * Each command once where it has something to do, and its exit code there. `wrong`: the same with a name that nothing has,
 * and its exit code.
 */
interface Try {
  args: string[];
  code: number;
  wrong?: [args: string[], code: number];
}

const tries: Record<string, Try> = {
  init: {args: ['made'], code: 0, wrong: [['agentdir.yaml/x'], 2]},
  demo: {args: ['--auto', '--fast'], code: 0},
  start: {args: ['--once'], code: 3},
  stop: {args: [], code: 5},
  restart: {args: [], code: 0},
  run: {args: ['w'], code: 0, wrong: [['none'], 2]},
  'context send': {args: ['hello', '--instance', 'i'], code: 0, wrong: [['hello', '--instance', 'j'], 2]},
  'context read': {args: [], code: 0, wrong: [['--instance', 'j'], 2]},
  'context peek': {args: [], code: 0, wrong: [['--instance', 'j'], 2]},
  'context document': {args: [], code: 0, wrong: [['--instance', 'j'], 2]},
  migrate: {args: ['old.yaml'], code: 0, wrong: [['none.yaml'], 2]},
  status: {args: [], code: 5},
  doctor: {args: [], code: 0},
  send: {args: ['hello'], code: 0, wrong: [['hello', '--to', 'plannr-001'], 2]},
  new: {args: ['planner-001'], code: 0, wrong: [['plannr-001'], 2]},
  peek: {args: [], code: 0, wrong: [['--to', 'plannr-001'], 2]},
  list: {args: [], code: 0, wrong: [['--agent', 'plannr-001'], 2]},
  sessions: {args: [], code: 0, wrong: [['--agent', 'plannr-001'], 2]},
  pause: {args: ['first'], code: 0, wrong: [['frist'], 2]},
  resume: {args: ['first'], code: 0, wrong: [['frist'], 2]},
  cancel: {args: ['first'], code: 0, wrong: [['frist'], 2]},
  compact: {args: ['first'], code: 1, wrong: [['frist'], 2]},
  rm: {args: ['first'], code: 0, wrong: [['frist'], 2]},
  cost: {args: [], code: 0, wrong: [['--by', 'week'], 2]},
  'agents stop': {args: ['planner-001'], code: 0, wrong: [['plannr-001'], 2]},
  'agents start': {args: ['planner-001'], code: 0, wrong: [['plannr-001'], 2]},
  'agents restart': {args: ['planner-001'], code: 0, wrong: [['plannr-001'], 2]},
  'agents health': {args: [], code: 0, wrong: [['plannr-001'], 2]},
  show: {args: ['redis-check'], code: 0, wrong: [['redis-chekc'], 2]},
  approvals: {args: [], code: 3, wrong: [['wk2bjbg2hcfx'], 2]},
  approve: {args: ['wk2b', '--answer', 'yes'], code: 0, wrong: [['wk2bjbg2hcfx'], 2]},
  reject: {args: ['wk2b', '--reason', 'no'], code: 0, wrong: [['wk2bjbg2hcfx'], 2]},
  tasks: {args: [], code: 0, wrong: [['SELEC 1'], 2]},
  'task add': {args: ['Look'], code: 0, wrong: [['Look', '--to', 'plannr-001'], 2]},
  'task done': {args: ['redis-check'], code: 0, wrong: [['redis-chekc'], 2]},
  'task start': {args: ['redis-check'], code: 0, wrong: [['redis-chekc'], 2]},
  'task block': {args: ['redis-check', '--why', 'x'], code: 0, wrong: [['redis-chekc', '--why', 'x'], 2]},
  'task skip': {args: ['redis-check'], code: 0, wrong: [['redis-chekc'], 2]},
  'task reopen': {args: ['redis-check'], code: 0, wrong: [['redis-chekc'], 2]},
  'task note': {args: ['redis-check', 'x'], code: 0, wrong: [['redis-chekc', 'x'], 2]},
  'task assign': {args: ['redis-check', 'executor-001'], code: 0, wrong: [['redis-check', 'exector-001'], 2]},
  agent: {args: [], code: 0, wrong: [['plannr-001'], 2]},
  'agents list': {args: [], code: 0, wrong: [['plannr-001'], 2]},
  'agents add': {args: ['impl-1', '--template', 'coder'], code: 0, wrong: [['human'], 2]},
  'agents rm': {args: ['planner-001'], code: 1, wrong: [['plannr-001'], 2]},
  models: {args: [], code: 0},
  check: {args: [], code: 0, wrong: [['nothing.md'], 2]},
  'policy explain': {args: ['ls'], code: 0},
  'policy test': {args: [], code: 0},
  'policy what-if': {args: ['--allowlist', 'allowlist.yaml'], code: 0, wrong: [['--allowlist', 'none.yaml'], 1]},
  log: {args: [], code: 0, wrong: [['redis-chekc'], 1]},
  undo: {args: ['HEAD'], code: 2, wrong: [['redis-chekc'], 2]},
  fork: {args: ['first'], code: 0, wrong: [['frist'], 2]},
  replay: {args: ['--all'], code: 0, wrong: [['frist'], 2]},
  verify: {args: [], code: 0, wrong: [['frist'], 2]},
  workspace: {args: [], code: 0},
  'workspace list': {args: [], code: 0, wrong: [['plannr-001'], 2]},
  'workspace diff': {args: ['planner-001'], code: 2, wrong: [['plannr-001'], 2]},
  'workspace log': {args: ['planner-001'], code: 2, wrong: [['plannr-001'], 2]},
  'workspace undo': {args: ['planner-001'], code: 2, wrong: [['plannr-001'], 2]},
  webhook: {args: ['--port', '0'], code: 2},
  mail: {args: ['--once'], code: 2},
};

function leaves(command: Command): Command[] {
  const shown = command
    .createHelp()
    .visibleCommands(command)
    .filter(one => one.name() !== 'help');
  return shown.flatMap(one => (one.commands.length > 0 ? leaves(one) : [one]));
}

const program = buildCommands({version: '', source: '', self: '', serve: async () => 0}, () => {});
const commands = leaves(program).map(one => ({name: pathOf(one).replace('agentdir ', ''), json: aboutOf(one)?.json}));

const freshHome = (atEnd = onTestFinished) =>
  newHome(
    {
      'tasks/redis.task.md': TASKS,
      'tasks/approvals.task.md': APPROVALS,
      'sessions/first.session.yaml': SESSION,
      'workflows/w.workflow.yaml': WORKFLOW,
      '.workflow/i/run.yaml': INSTANCE,
      'old.yaml': OLD_WORKFLOW,
    },
    atEnd,
  );

/** One value, or one a line. */
function expectJson(stdout: string, json: unknown, code: number): void {
  const lines = stdout.split('\n').filter(line => line !== '');
  if (String(json).startsWith('value') || code === 2 || code === 1) expect(lines).toHaveLength(1);
  for (const line of lines) expect(() => JSON.parse(line), line).not.toThrow();
}

describe('with --json', () => {
  it('each command is tried, but those that say why they have none', () => {
    const without = commands.filter(({json}) => typeof json === 'object').map(({name}) => name);
    expect(without).toEqual(['chat', 'completions']);
    const missing = commands.filter(({name}) => !(name in tries) && !without.includes(name));
    expect(missing).toEqual([]);
  });

  it.concurrent.for(commands.filter(({json}) => json === 'value' || json === 'lines'))(
    '$name prints JSON and nothing else, wherever --json stands, and exits as it should',
    async ({name, json}, {onTestFinished: atEnd}) => {
      const {args, code, wrong} = tries[name] as Try;
      const words = name.split(' ');
      const home = await freshHome(atEnd);
      // Before the command, in it, or behind it.
      const first = await agentdir(
        home,
        name.length % 2 === 0 ? ['--json', ...words, ...args] : [...words, ...args, '--json'],
      );
      const said = `${first.stdout}\n${first.stderr}`;
      expect([first.code, first.stderr.replaceAll(/^(?:agentdir:| {2}).*\n/gm, '')], said).toEqual([
        code,
        first.code === 2 ? '' : expect.any(String),
      ]);
      expectJson(first.stdout, json, first.code);
      if (name === 'restart') await agentdir(home, ['stop']);
      if (!wrong) return;
      const second = await agentdir(home, [...words, '--json', ...wrong[0]]);
      expect(second.code).toBe(wrong[1]);
      expectJson(second.stdout, json, second.code);
      if (second.code === 2 && !/nothing|SELEC/.test(wrong[0].join(' ')))
        expect(JSON.parse(second.stdout)).toEqual({error: expect.any(String), hint: expect.any(String)});
    },
  );
});

describe('exit codes', () => {
  const anywhere = ['init', 'demo', 'run', 'migrate', 'completions'];

  it.concurrent.each(commands.filter(({name}) => !anywhere.includes(name)))(
    '$name without a home: 2, and what to do',
    async ({name}) => {
      const {args = []} = tries[name] ?? {};
      const {code, stdout, stderr} = await agentdir('/', [...name.split(' '), ...args]);
      expect({code, stdout}).toEqual({code: 2, stdout: ''});
      expect(stderr).toMatch(/^agentdir: no home here: .*\n {2}go to a home, name one with --home DIR, or make one/);
    },
  );
});

describe('a reader that has seen enough', () => {
  /** `head -c 1` reads it; while that goes on, `meanwhile`. */
  async function headOf(home: string, args: readonly string[], meanwhile = async () => {}) {
    const line = '"$@" | { head -c 1 >/dev/null; echo seen; } >&2; exit ${PIPESTATUS[0]}';
    const child = spawn('bash', ['-c', line, 'bash', process.execPath, main, ...args], {cwd: home, env: environment});
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const code = new Promise<number | null>(resolve => child.once('close', resolve));
    await until(
      () => stderr,
      text => text.includes('seen'),
    );
    await meanwhile();
    return {code: await code, stderr};
  }

  it.concurrent.for(
    [
      ...[['--help'], ['tasks'], ['list'], ['log'], ['check'], ['doctor'], ['agent'], ['approvals'], ['start']],
      ...[
        ['status', '--json'],
        ['demo', '--auto', '--fast'],
        ['tasks', 'SELECT * FROM tasks'],
        ['completions', 'bash'],
      ],
    ].map(args => ({line: args.join(' '), args})),
  )('ends agentdir $line silently', async ({args}, {onTestFinished: atEnd}) => {
    const {code, stderr} = await headOf(await freshHome(atEnd), args);
    expect(stderr).toBe('seen\n');
    // As it would have ended, if it was done before.
    expect([0, 3, 5]).toContain(code);
  });

  it('ends agentdir log -f when there is more', async () => {
    const home = await freshHome();
    const more = async () => {
      await git(home, 'add', 'tasks');
      await git(home, 'commit', '-q', '-m', 'more');
    };
    expect(await headOf(home, ['log', '-f'], more)).toEqual({code: 0, stderr: 'seen\n'});
  });
});
