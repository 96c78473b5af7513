import {type ChildProcess, execFile, spawn} from 'node:child_process';
import {appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {environment, git, newHome, root, startAgentdir, temporary, until} from './cli/run.ts';
import {clean} from './daemon/serve.ts';
import {freshClone} from './fresh-clone.ts';
import {hasShape, inlineCommands, stepsOf} from './readme-blocks.ts';

interface Terminal {
  child: ChildProcess;
  text: () => string;
  /** The terminal's Ctrl-C: a signal to every process in front of it. */
  interrupt: () => Promise<number | null>;
}

/** `npm start`, leading a group of its own as in front of a terminal. */
function npmStart(cwd: string): Terminal {
  const child = spawn('npm', ['start'], {cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true});
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
  const ended = new Promise<number | null>(resolve => child.once('close', code => resolve(code)));
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid ?? 0), name);
    } catch {
      // It has ended.
    }
    return ended;
  };
  onTestFinished(async () => {
    await signal('SIGKILL');
  });
  return {child, text: () => text, interrupt: () => signal('SIGINT')};
}

const commits = async (home: string) => Number(await git(home, 'rev-list', '--count', 'HEAD'));

describe('npm start in a fresh clone', () => {
  it('serves, says what to do next, does it there, and ends with Ctrl-C', async () => {
    const clone = await freshClone();
    const terminal = npmStart(clone);
    await until(terminal.text, text => text.includes(' serving '));
    const said = await until(terminal.text, text => text.includes('git log'));
    expect(said).toContain('7 agents, 0 sessions, 0 tasks. Edit any file; Ctrl-C stops.');
    expect(said).toContain('model playbook (a script, not an AI)');
    expect(said).toMatch(
      /= for an AI, start again with OPENAI_API_KEY, ANTHROPIC_API_KEY, .* set, or with Ollama running/,
    );
    expect(said).toMatch(/ sandbox (?:bubblewrap|none: )/);
    expect(said).toContain('This is Agentdir’s own source');
    expect(said).toContain('agentdir init ~/agents');
    expect(said).toContain('agentdir send "show me an approval" --to executor-001');
    expect(await commits(clone)).toBe(1);
    expect(await git(clone, 'status', '--porcelain')).toBe('');

    appendFileSync(join(clone, 'inbox/try.jsonl'), '{"text": "hello", "from": "boss"}\n');
    await until(
      () => git(clone, 'log', '--format=%an|%s'),
      log => log.includes('planner-001|'),
    );
    writeFileSync(
      join(clone, 'sessions/first.session.yaml'),
      'agent_id: executor-001\nmessages:\n  - role: user\n    content: show me an approval\n',
    );
    const queue = join(clone, 'tasks/approvals.task.md');
    await until(
      () => readFileSync(queue, 'utf8'),
      text => text.includes('- [_] '),
    );
    writeFileSync(queue, readFileSync(queue, 'utf8').replace('- [_] ', '- [x] '));
    await until(
      () => existsSync(join(clone, 'workspaces/executor-001/hello.txt')),
      there => there,
    );
    await clean(clone);
    expect(await git(clone, 'log', '--format=%an')).toContain('Ada');

    const pid = Number(readFileSync(join(clone, '.agentdir/daemon.pid'), 'utf8'));
    expect(await terminal.interrupt()).toBe(0);
    expect(terminal.text().trimEnd().split('\n').slice(-1)[0]).toMatch(/ stopped$/);
    expect(terminal.text()).not.toMatch(/npm (?:ERR|error)/);
    expect(() => process.kill(pid, 0)).toThrow();
  });
});

describe('a first start elsewhere', () => {
  const told = async (home: string) => {
    const started = startAgentdir(home, ['start']);
    const text = await until(started.stdout, seen => seen.includes('git log'));
    started.child.kill('SIGINT');
    started.child.kill('SIGINT');
    expect((await started.ended).code).toBe(0);
    return text;
  };

  it('names unusual things: no branch, a shallow clone', async () => {
    const home = await newHome();
    await git(home, 'commit', '-q', '--allow-empty', '-m', 'one more');
    const clone = join(temporary(), 'home');
    await git(home, 'clone', '-q', '--depth', '1', `file://${home}`, clone);
    await git(clone, 'checkout', '-q', '--detach');
    const text = await told(clone);
    expect(text).toContain('git is on no branch (detached HEAD)');
    expect(text).toContain('this is a shallow clone');
    expect(text).not.toContain('own source');
    expect(text).toContain(`cd ${clone}; export PATH=${join(root, 'bin')}:`);
  });

  it('says nothing of first steps where there are sessions', async () => {
    const home = await newHome();
    writeFileSync(join(home, 'sessions/s.session.yaml'), 'agent_id: planner-001\nstatus: paused\nmessages: []\n');
    const started = startAgentdir(home, ['start']);
    await until(started.stdout, seen => seen.includes(' sandbox '));
    started.child.kill('SIGTERM');
    expect((await started.ended).stdout).not.toContain('second terminal');
  });
});

const page = readFileSync(join(root, 'README.md'), 'utf8');

/** A key, and a server that takes it. */
const needsAKey = /^export ANTHROPIC_API_KEY=|^npm start$/;
/** Looks only: asked again until it shows what the page shows. */
const looks = /^(?:tail|sed|cat|git log|agentdir (?:approvals|check|tasks|status|verify|policy))\b/;

/** Commands within sentences, and what becomes of them here. */
const inline: Record<string, 'run' | string> = {
  'npm ci && npm test': 'the gate itself: .ci/run',
  'agentdir demo': 'waits for a person; test/cli/demo.test.ts',
  'agentdir send "which agents are there?" --session first --wait': 'run',
  'agentdir approve wk2b': 'test/cli/approvals.test.ts',
  'agentdir check': 'run',
  'agentdir log': 'run',
  'agentdir doctor': 'run',
  'agentdir start FILE --instance pr-123': 'test/daemon/workflows.test.ts',
  'agentdir stop @pr-123': 'test/daemon/workflows.test.ts',
  'npm link': 'changes the machine',
};

describe('the README', () => {
  it('has no command in its text that is not accounted for', () => {
    expect([...new Set(inlineCommands(page))].sort()).toEqual(Object.keys(inline).sort());
    expect(readFileSync(join(root, '.ci/run'), 'utf8')).toContain('npm ci && npm test');
  });

  it('does what it says, command by command, in a fresh clone', async () => {
    const clone = await freshClone();
    const home = dirname(clone);
    const editor = join(home, 'editor');
    const toWrite = join(home, 'to-write');
    mkdirSync(toWrite);
    writeFileSync(editor, EDITOR);
    chmodSync(editor, 0o755);
    const env = {...environment, HOME: home, EDITOR: editor, TO_WRITE: toWrite};
    const before: string[] = [];
    const run = (command: string) =>
      new Promise<string>(resolve => {
        const line = [...before, command].join('\n');
        execFile('bash', ['-c', line], {cwd: clone, env}, (error, stdout, stderr) => {
          const code = error?.code ?? 0;
          resolve(code === 0 || code === 3 ? stdout : `exit ${code}\n${stdout}${stderr}`);
        });
      });
    let terminal: Terminal | undefined;
    for (const {line, command, shown: ada, written} of stepsOf(page)) {
      const place = `README.md:${line}: ${command}`;
      const shown = ada?.replaceAll('/home/ada/agentdir', clone).replaceAll('/home/ada', home);
      const fits = (output: string) => shown === undefined || hasShape(shown, output);
      const [, file] = /^\$EDITOR (\S+)$/.exec(command) ?? [];
      if (file !== undefined && written !== undefined) writeFileSync(join(toWrite, basename(file)), written);
      if (needsAKey.test(command)) continue;
      if (command === 'npm ci && npm start') {
        terminal = npmStart(clone);
        await until(terminal.text, fits);
      } else if (/^(?:export|cd) /.test(command)) before.push(command);
      else if (looks.test(command))
        await until(() => run(command), fits).catch((error: Error) => {
          throw new Error(`${place}\n${error.message}\nthe page shows\n${shown}`);
        });
      else {
        const output = await run(command);
        expect(fits(output), `${place}\n${output}\nthe page shows\n${shown}`).toBe(true);
        expect(output, place).not.toMatch(/^exit /);
      }
      if (command.startsWith('agentdir verify'))
        for (const [more, how] of Object.entries(inline))
          if (how === 'run') expect(await run(more), more).not.toMatch(/^exit /);
    }
    expect(await terminal?.interrupt()).toBe(0);
  });
});

/** Writes what the page says, if it says what; else ticks the box. */
const EDITOR = `#!/bin/sh
if [ -e "$TO_WRITE/$(basename "$1")" ]; then cp "$TO_WRITE/$(basename "$1")" "$1"; else sed -i 's/^- \\[_\\] /- [x] /' "$1"; fi
`;
