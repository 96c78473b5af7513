import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {parsePlaybook} from '../../src/formats/playbook.ts';
import {firstSteps, stepLines} from '../../src/surfaces/cli/first-steps.ts';
import {installed} from '../daemon/terminal.ts';
import {environment, main, newHome, root, temporary, until} from './run.ts';

describe('what to type next', () => {
  it('has what it is for below it', () => {
    const steps = [['cd x', ''] as const, ['agentdir send "hello"', 'an answer, and more'] as const];
    expect(stepLines(steps, 80)).toEqual(['  cd x', '  agentdir send "hello"', '      an answer, and more']);
    expect(stepLines(steps, 16)).toEqual(['  cd x', '  agentdir send "hello"', '      an answer,\n      and more']);
  });

  const shells = [
    ['bash', ['--norc', '-i']],
    ['zsh', ['-f', '-i']],
    ['fish', ['--no-config', '-c']],
  ] as const;
  it.each(shells.filter(([shell]) => installed(shell)))('each line can be pasted into %s', (shell, args) => {
    const home = temporary();
    mkdirSync(join(home, 'inbox'));
    mkdirSync(join(home, 'bin'));
    for (const name of ['agentdir', 'vi', 'git'])
      writeFileSync(join(home, 'bin', name), `#!/bin/sh\necho "${name} $#" >> "${home}/said"\n`, {mode: 0o755});
    const text = firstSteps({home, source: home, isOnPath: false, editor: 'vi'});
    const lines = text.split('\n').filter(line => /^ {2}\S/.test(line));
    expect(lines).toHaveLength(6);
    const input = `${lines.join('\n')}\ncat said inbox/try.jsonl\nexit\n`;
    const {stdout, stderr} = spawnSync(shell, shell === 'fish' ? [...args, input] : args, {
      cwd: '/',
      env: {...environment, HOME: home},
      input,
      encoding: 'utf8',
    });
    const shown = `agentdir 3\nagentdir 4\nvi 1\ngit 3\n{"text": "hello", "from": "boss"}\n`;
    expect(stdout, stderr).toContain(shown);
    expect(stderr).not.toMatch(/not found|unknown/i);
  });

  it('what the playbook says first fits 80 columns, and each command in it is a line', () => {
    const {value} = parsePlaybook(readFileSync(join(root, 'playbooks/first-run.playbook.yaml'), 'utf8'));
    const said = (value?.rules ?? []).filter(({name}) =>
      /^hello|^how to set|^executor (?:asks to run a command|ran it)$/.test(name ?? ''),
    );
    expect(said.length).toBeGreaterThan(3);
    for (const line of said.flatMap(({say}) => say?.split('\n') ?? [])) {
      expect(line.length, line).toBeLessThanOrEqual(80);
      if (/^ {2}(?:agentdir|export) /.test(line)) expect(line).not.toMatch(/\S {2,}\S/);
    }
  });

  it('ends lines between words', () => {
    const text = firstSteps({home: '/h', source: '/s', isOnPath: true, editor: 'vi'});
    expect(text).toContain(
      "Anything allowlist.yaml doesn't allow waits in a file for your approval. Starting commits nothing.\n",
    );
  });
});

describe('a first start', () => {
  /** What a start says until it is ready; the daemon is stopped then. */
  async function saidAtStart(home: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const child = spawn(process.execPath, [main, 'start'], {cwd: home, env: {...environment, ...env}});
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stdout.on('data', chunk => {
      said += chunk;
    });
    await until(
      () => existsSync(join(home, '.agentdir/status.json')) && /sandbox/.test(said),
      ready => ready,
    );
    // The first steps come after the sandbox, or never: stopping waits for what is under way.
    await until(
      () => said,
      text => text.includes('Try, in a second') || text.split('\n').length > 5 || existsSync(join(home, SHOWN)),
      5_000,
    ).catch(() => {});
    child.kill('SIGTERM');
    await new Promise(resolve => child.once('close', resolve));
    return said;
  }
  const SHOWN = '.agentdir/first-steps-shown';

  it('suggests commands once', async () => {
    const home = await newHome();
    expect(await saidAtStart(home)).toContain('Try, in a second terminal:');
    expect(await saidAtStart(home)).not.toContain('Try, in a second');
  });

  it('suggests nothing and names the model if a key is set', async () => {
    const home = await newHome();
    const said = await saidAtStart(home, {ANTHROPIC_API_KEY: 'sk-ant-0123456789abcdef0123'});
    expect(said).toContain('model claude-sonnet-4-5 of api.anthropic.com (key in ANTHROPIC_API_KEY, cost unknown)');
    expect(said).not.toContain('Try, in a second');
  });

  it('names no key that is not set', async () => {
    const home = await newHome();
    const said = await saidAtStart(home, {OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_MODEL: 'local-1'});
    expect(said).toContain('model local-1 of 127.0.0.1:9 (cost unknown)');
  });
});
