import {spawnSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {type Program, type RunRequest, type RunResult, runPrograms} from '../../src/effects/sandbox/run.ts';

/** Without bubblewrap these tests say so instead of passing. */
export const noBubblewrap =
  spawnSync('bwrap', ['--version']).status === 0 ? undefined : 'bubblewrap is not installed on this machine';

export interface SandboxHome {
  home: string;
  workspace: string;
}

/** A home with two workspaces, a policy and a git folder. */
export function sandboxHome(parent = tmpdir()): SandboxHome {
  const home = realpathSync(mkdtempSync(join(parent, 'agentdir-sandbox-')));
  onTestFinished(() => rmSync(home, {recursive: true, force: true}));
  for (const folder of ['workspaces/ada', 'workspaces/bob', '.git/hooks', '.agentdir', 'approvals'])
    mkdirSync(join(home, folder), {recursive: true});
  writeFileSync(join(home, 'allowlist.yaml'), 'secret policy\n');
  writeFileSync(join(home, 'workspaces/bob/file'), 'secret of bob\n');
  writeFileSync(join(home, '.git/config'), 'secret git\n');
  writeFileSync(join(home, '.agentdir/state'), 'secret state\n');
  return {home, workspace: join(home, 'workspaces/ada')};
}

export interface Said extends RunResult {
  stdout: string;
  stderr: string;
}

type Options = Partial<Omit<RunRequest, 'programs'>> & {confined?: boolean; network?: boolean};

/** Words as the policy gives them: `['echo', 'a', '|', 'cat']`. */
export function line(words: readonly string[], options: Options = {}): Program[] {
  const programs: (Program & {argv: string[]})[] = [];
  const {confined = true, network = false} = options;
  const begin = (operator: Program['operator']) => programs.push({argv: [], operator, confined, network});
  begin('');
  for (const word of words)
    if (word === '|' || word === '&&' || word === '||' || word === ';') begin(word);
    else programs.at(-1)?.argv.push(word);
  return programs;
}

export async function say(place: SandboxHome, words: readonly string[], options: Options = {}): Promise<Said> {
  const output = {stdout: '', stderr: ''};
  const ran = await runPrograms({
    ...place,
    ...{
      readOnly: false,
      mark: newMark(),
      timeoutMs: 20_000,
      mostOutput: 1_000_000,
      signal: new AbortController().signal,
    },
    onOutput: (stream, chunk) => {
      output[stream] += chunk.toString();
    },
    ...options,
    programs: line(words, options),
  });
  return {...ran, ...output};
}

export function sh(place: SandboxHome, script: string, options: Options = {}): Promise<Said> {
  return say(place, ['sh', '-c', script], options);
}

export function newMark(): string {
  return `test-${randomBytes(8).toString('hex')}`;
}
