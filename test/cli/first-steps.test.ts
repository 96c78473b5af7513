import {spawnSync} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parsePlaybook} from '../../src/formats/playbook.ts';
import {firstSteps, stepLines} from '../../src/surfaces/cli/first-steps.ts';
import {installed} from '../daemon/terminal.ts';
import {environment, root, temporary} from './run.ts';

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
      'Anything allowlist.yaml does not allow waits in a file for your approval. Starting commits nothing.\n',
    );
  });
});
