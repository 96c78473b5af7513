import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Command} from 'commander';
import {describe, expect, it} from 'vitest';
import {aboutOf} from '../../src/surfaces/cli/about.ts';
import {pathOf} from '../../src/surfaces/cli/command-words.ts';
import {buildCommands} from '../../src/surfaces/cli/commands.ts';
import {manPage} from '../../src/surfaces/cli/man-page.ts';
import {wrap} from '../../src/surfaces/terminal/wrap.ts';
import {agentdir, newHome, root} from './run.ts';

const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {version: string};

function build(): Command {
  return buildCommands({version, source: '', self: '', serve: async () => 0}, () => {});
}

function all(program: Command): Command[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .filter(one => one.name() !== 'help')
    .flatMap(one => [one, ...all(one)]);
}

/** The words of each agentdir in a line of shell. */
function callsIn(line: string): string[][] {
  const words = line.match(/"(?:[^"\\]|\\.)*"|'[^']*'|[|;()<>]+|[^\s|;()<>"']+/g) ?? [];
  const calls: string[][] = [];
  let call: string[] | undefined;
  for (const word of words) {
    if (/^"\$\(?$/.test(word)) continue;
    if (word === 'agentdir') {
      call = [];
      calls.push(call);
    } else if (/^[|;()<>]+$/.test(word)) call = undefined;
    else call?.push(word.replace(/^(["'])(.*)\1$/s, '$2'));
  }
  return calls;
}

const commands = all(build());

describe('commands', () => {
  it('are all there', () => {
    expect(commands.length).toBeGreaterThan(40);
  });

  it.each(commands.map(one => [pathOf(one), one] as const))('%s: help with examples that fit 80 columns', (_, one) => {
    const about = aboutOf(one);
    expect(one.summary().length).toBeGreaterThan(8);
    expect(`${one.summary()}\n${one.description()}`).not.toMatch(/\b([a-z]+) \1\b/i);
    expect(one.description()).toMatch(/\.$/);
    expect(about?.examples.length).toBeGreaterThanOrEqual(2);
    expect(about?.examples.length).toBeLessThanOrEqual(4);
    expect(about?.json !== undefined).toBe(one.commands.length === 0);
    let help = '';
    one.configureOutput({writeOut: text => (help += wrap(text, 80))}).outputHelp();
    for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(help).not.toContain('[])');
    for (const [line] of about?.examples ?? []) expect(help).toContain(`  ${line}\n`);
  });

  it.each(commands.flatMap(one => (aboutOf(one)?.examples ?? []).map(([line]) => [line, pathOf(one)] as const)))(
    '%s',
    async (line, path) => {
      const calls = callsIn(line.replaceAll('"$(', '$('));
      expect(calls.length).toBeGreaterThan(0);
      const reached: string[] = [];
      for (const words of calls) {
        const program = build();
        for (const one of all(program)) if (one.commands.length === 0) one.action(() => void reached.push(pathOf(one)));
        await program.parseAsync(words, {from: 'user'});
      }
      expect(
        reached.some(one => one.startsWith(path)),
        `${reached} is not ${path}`,
      ).toBe(true);
    },
  );

  it('fit a terminal of 80 columns in the list of them, each on one line, in groups', () => {
    const help = wrap(build().helpInformation(), 80);
    for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    for (const one of commands.filter(({parent}) => parent?.parent === null))
      expect(help).toMatch(new RegExp(`^  ${[one.name(), ...one.aliases()].join(', ')} +\\S.*$`, 'm'));
    expect(help.match(/^[A-Z].*:$/gm)).toEqual([
      ...[
        'Options:',
        'Start here:',
        'Workflows:',
        'Talk:',
        'Decide:',
        'Tasks:',
        'Inspect:',
        'History:',
        'Connectors:',
        'Shell:',
      ],
    ]);
  });
});

describe('the manual', () => {
  it('is what the commands say: npm run schemas writes it', () => {
    expect(readFileSync(join(root, 'man/agentdir.1'), 'utf8')).toBe(manPage(build()));
  });

  const has = (program: string) => spawnSync(program, ['--version']).error === undefined;

  it.skipIf(!has('mandoc'))('has no fault that mandoc knows', () => {
    const {stdout} = spawnSync('mandoc', ['-Tlint', '-Wwarning', 'man/agentdir.1'], {cwd: root, encoding: 'utf8'});
    expect(stdout).toBe('');
  });

  it.skipIf(!has('groff'))('has no fault that groff knows, and all commands', () => {
    const args = ['-man', '-ww', '-Tutf8', '-P-c', 'man/agentdir.1'];
    const {stdout, stderr} = spawnSync('groff', args, {cwd: root, encoding: 'utf8'});
    expect(stderr).toBe('');
    const plain = stdout.replaceAll(/.[\b]/g, '');
    for (const one of commands) expect(plain).toContain(pathOf(one));
  });
});

describe('a slip of the fingers', () => {
  it.each([
    [['aprove', '1'], "unknown command 'aprove'", 'did you mean approve?'],
    [['task', 'dnoe', '1'], "unknown command 'dnoe'", 'did you mean done?'],
    [['workspace', 'dif', 'coder'], "unknown command 'dif'", 'did you mean diff?'],
    [['policy', 'explian', 'ls'], "unknown command 'explian'", 'did you mean explain?'],
    [['status', '--jsno'], "unknown option '--jsno'", 'did you mean --json?'],
    [['send', 'x', '--wiat'], "unknown option '--wiat'", 'did you mean --wait?'],
    [['list', '--status', 'eror'], 'no status "eror"', 'did you mean error?'],
    [['replay', '--all', '--policy', 'tehn'], 'no policy "tehn"', 'did you mean then?'],
    [['completions', 'bsh'], 'no shell "bsh"', 'did you mean bash?'],
    [
      ['status', 'extra'],
      "too many arguments for 'status'. Expected 0 arguments but got 1.",
      'see: agentdir status --help',
    ],
    [['help', 'statsu'], "unknown command 'statsu'", 'did you mean status?'],
    [['help', 'xyzzy'], "unknown command 'xyzzy'", 'see: agentdir --help'],
    [['policy', 'help', 'explian'], "unknown command 'explian'", 'did you mean explain?'],
    [['help', 'policy', 'explian'], "unknown command 'explian'", 'did you mean explain?'],
    [['fork'], "missing required argument 'session'", 'for example: agentdir fork planner-001-7k2m'],
  ])('agentdir %j', async (args, error, hint) => {
    const told = await agentdir('/', ['--json', ...args]);
    const stderr = `agentdir: ${error}\n  ${hint}\n`;
    expect(told).toEqual({code: 2, stdout: `${JSON.stringify({error, hint})}\n`, stderr});
  });

  it('what is missing is told with an example, and with what there is', async () => {
    const item = (id: string, box: string) => `- [${box}] @human "Approve ls"\n  id: ${id}\n`;
    const queue = ['aa1', 'bb2', 'cc3', 'dd4', 'ee5', 'ff6', 'gg7'].map(id => item(id, '_')).join('');
    const home = await newHome({
      'tasks/approvals.task.md': `## TODO\n\n${item('done', 'x')}${queue}`,
      'sessions/s1.session.yaml': 'agent_id: planner-001\nmessages: []\n',
    });
    const hint = async (...args: string[]) => (await agentdir(home, args)).stderr.split('\n')[1]?.trim();
    expect(await hint('reject')).toBe(
      'for example: agentdir reject 8228 --reason "not on a Friday"; choose from: aa1, bb2, cc3, dd4, ee5, ff6 and 1 more',
    );
    expect(await hint('fork')).toMatch(/^for example: agentdir fork .*; choose from: s1$/);
    expect(await hint('new')).toMatch(/^for example: agentdir new .*; choose from: .*planner-001/);
    expect(await hint('send', 'x', '--to')).toMatch(
      /^for example: agentdir send .*--to .*; choose from: .*planner-001/,
    );
    expect(await hint('policy', 'explain')).toMatch(/^for example: agentdir policy explain /);
  });
});
