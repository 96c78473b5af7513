import {execFileSync, spawnSync} from 'node:child_process';
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {buildCommands} from '../../src/surfaces/cli/commands.ts';
import {completeCommand} from '../../src/surfaces/cli/complete.ts';
import {agentdir, environment, main, newHome, put, temporary} from './run.ts';

const APPROVALS = `## TODO

- [_] A @human #approval "Approve command: ls > x"
  id: wk2bjbg2hcfd
- [x] A @human #approval "Approve command: df"
  id: decided1
`;

/** A home with one of each, and a PATH on which agentdir is the built program. */
async function surroundings() {
  const home = await newHome({
    'tasks/redis.task.md':
      '## TODO\n\n- [ ] A @planner-001 "Is Redis up?"\n  id: redis-check\n- [x] Done\n  id: redis-old\n',
    'tasks/approvals.task.md': APPROVALS,
    'sessions/planner-001/planner-001-7k2m.session.yaml': 'agent_id: planner-001\nmessages: []\n',
    'my file.md': '',
  });
  const bin = temporary();
  writeFileSync(join(bin, 'agentdir'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(join(bin, 'agentdir'), 0o755);
  return {home, env: {...environment, HOME: bin, PATH: `${bin}:${environment.PATH}`, TERM: 'dumb'}};
}

const has = (shell: string) => spawnSync(shell, ['--version']).error === undefined;

describe('what may stand in place of a word', () => {
  it('is what the commands and the home have', async () => {
    const {home} = await surroundings();
    const program = buildCommands({version: '', source: '', self: '', serve: async () => 0}, () => {});
    const words = (...args: string[]) =>
      completeCommand(program, args, home, {})
        .split('\n')
        .flatMap(line => line.split('\t')[0] || []);
    expect(words('appr')).toEqual(['approvals', 'approve']);
    expect(words('task', 'r')).toEqual(['reopen']);
    expect(words('send', 'hello', '--w')).toEqual(['--wait']);
    expect(words('send', '--to', 'p')).toEqual(['planner-001']);
    expect(words('send', '--to=p')).toEqual(['--to=planner-001']);
    expect(words('task', 'done', '')).toEqual(['redis-check', 'redis-old']);
    expect(words('approve', '')).toEqual(['wk2bjbg2hcfd']);
    expect(words('fork', '')).toEqual(['planner-001-7k2m']);
    expect(words('log', 're')).toEqual(['retriever-001', 'redis-check', 'redis-old']);
    expect(words('check', '')).toEqual([':files']);
    expect(words('--json', 'init', '')).toEqual([':dirs']);
    expect(words('list', '--status', 'e')).toEqual(['error']);
    expect(words('help', 'po')).toEqual(['policy']);
    expect(words('task', 'assign', 'redis-check', 'new:pl')).toEqual(['new:planner-001']);
    expect(words('send', 'some', '')).toEqual([]);
    expect(completeCommand(program, ['approve', ''], home, {})).toBe('wk2bjbg2hcfd\tApprove command: ls > x\n');
  });

  it('finds the home as commands do, and without one is silent', async () => {
    const {home} = await surroundings();
    const [named, nowhere] = await Promise.all([
      agentdir('/', ['__complete', '--', '--home', home, 'new', 'plan']),
      agentdir('/', ['__complete', '--', 'new', 'plan']),
    ]);
    expect(named.stdout).toBe('planner-001\tagent\n');
    expect(nowhere).toEqual({code: 0, stdout: '', stderr: ''});
  });
});

describe('completions', () => {
  it('work in bash', async () => {
    const {home, env} = await surroundings();
    const script = `eval "$(agentdir completions bash)"
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _agentdir agentdir; printf '%s\\n' "\${COMPREPLY[@]}" END; }
try agentdir appr
try agentdir send --to = pl
try agentdir task assign redis-check new : pl
try agentdir check my
try agentdir reject ''`;
    const told = execFileSync('bash', ['--norc', '-c', script], {cwd: home, env, encoding: 'utf8'});
    const tries = told.split('END\n').map(part => part.split('\n').slice(0, -1));
    expect(tries.slice(0, 5)).toEqual([
      ['approvals', 'approve'],
      ['planner-001'],
      ['planner-001'],
      ['my file.md'],
      ['wk2bjbg2hcfd'],
    ]);
  });

  it.skipIf(!has('fish'))('work in fish', async () => {
    const {home, env} = await surroundings();
    mkdirSync(join(env.HOME, '.config/fish'), {recursive: true});
    const script = `agentdir completions fish | source
complete -C 'agentdir appr'
complete -C 'agentdir send --to pl'
complete -C 'agentdir check my'
complete -C 'agentdir task done redis-c'`;
    const told = execFileSync('fish', ['-N', '-c', script], {cwd: home, env, encoding: 'utf8'});
    expect(told.split('\n').map(line => line.split('\t')[0])).toEqual([
      ...['approvals', 'approve', 'planner-001', 'my file.md', 'redis-check', ''],
    ]);
  });

  it.skipIf(!has('zsh'))('work in zsh, at a terminal', async () => {
    const {home, env} = await surroundings();
    put(env.HOME, {
      '.zshrc': `autoload -Uz compinit && compinit -u -D
eval "$(agentdir completions zsh)"
show() { print -r -- "BUFFER<$BUFFER>"; BUFFER=; }
zle -N show
bindkey '^X' show
PS1='READY '
`,
    });
    const script = `zmodload zsh/zpty
zpty shell zsh -i
zpty -r shell seen '*READY*'
for line in 'agentdir appr' 'agentdir send --to pl' 'agentdir task done redis-c' 'agentdir check my' 'agentdir reject '; do
  zpty -w -n shell "$line"$'\\t\\030'
  zpty -r shell seen '*BUFFER<*>*'
  print -r -- "\${\${seen##*BUFFER<}%%>*}"
done
zpty -d shell`;
    const told = execFileSync('zsh', ['-f', '-c', script], {
      cwd: home,
      env: {...env, ZDOTDIR: env.HOME},
      encoding: 'utf8',
    });
    expect(told.split('\n').map(line => line.trim())).toEqual([
      'agentdir approv',
      'agentdir send --to planner-001',
      'agentdir task done redis-check',
      'agentdir check my\\ file.md',
      'agentdir reject wk2bjbg2hcfd',
      '',
    ]);
  });
});
