import {spawn, spawnSync} from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {makeSandbox} from '../../src/effects/sandbox/sandbox.ts';
import {failure} from '../../src/effects/tool/failure.ts';
import type {ToolContext, ToolResult} from '../../src/effects/tool/tool.ts';
import {CommandOutput} from '../../src/effects/tools/command-output.ts';
import {planCommand} from '../../src/effects/tools/command-plan.ts';
import {prepareCall} from '../../src/effects/tools/prepare-call.ts';
import {snapshot} from '../../src/effects/workspace/changed-files.ts';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {root} from '../cli/run.ts';
import {asking, textOf, toolHome} from './tool-home.ts';

const hasSandbox = spawnSync('bwrap', ['--dev-bind', '/', '/', 'true']).status === 0;
const shipped = parseAllowlist(readFileSync(join(root, 'allowlist.yaml'), 'utf8')).policy;
const policyOf = (...allow: string[]) =>
  parseAllowlist(`version: 1\ncommands: {allow: ${JSON.stringify(allow)}, deny: ["rm -rf *"]}`).policy;

async function run(
  context: ToolContext,
  args: object,
  {policy = shipped, approved = false} = {},
): Promise<ToolResult & Record<string, unknown>> {
  const call = {name: 'execute_command', arguments: JSON.stringify(args)};
  const ready = await prepareCall(call, ['execute_command'], policy, context);
  if ('refused' in ready) return ready.refused;
  if (ready.asks && !approved) return failure('REJECTED', 'nobody was asked');
  return ready.execute();
}

describe('a line that a person approved', () => {
  it('is read by a shell, as the very string that it is', async () => {
    const {context, workspace} = toolHome();
    const command = 'for x in 1 2; do echo "$((x * 2))$IFS" > $x.txt; done; cat {1,2}.txt # both\necho end >&2; exit 3';
    expect(await run(context, {command})).toMatchObject({code: 'REJECTED'});
    expect(readdirSync(workspace)).toEqual([]);
    expect(await run(context, {command}, {approved: true})).toMatchObject({
      success: false,
      code: 'FAILED',
      exit_code: 3,
      stdout: '2 \t\n\n4 \t\n\n',
      stderr: 'end\n',
      ran: hasSandbox ? 'sandbox' : 'host',
      changed_files: [
        {path: '1.txt', change: 'created'},
        {path: '2.txt', change: 'created'},
      ],
    });
  });

  it('prints to /dev/stderr and reads /dev/stdin as in a terminal', async () => {
    const {context} = toolHome();
    const command = 'echo out > /dev/stdout; echo err > /dev/stderr; echo in | cat /dev/stdin';
    expect(await run(context, {command}, {approved: true})).toMatchObject({stdout: 'out\nin\n', stderr: 'err\n'});
  });

  it('runs nowhere as long as a full disk keeps the sandbox from being tested', async () => {
    const {context, workspace} = toolHome();
    const state = async () => ({state: 'untested', why: 'the disk is full', hint: 'free some space'}) as const;
    for (const mode of ['auto', 'require'] as const) {
      const full = {...context, commands: {...context.commands, mode, sandbox: {state}}};
      for (const command of ['ls', 'touch a'])
        await expect(run(full, {command}, {approved: true})).rejects.toThrow(/no command runs: the disk is full/);
    }
    expect(readdirSync(workspace)).toEqual([]);
  });

  it('is still denied if the policy denies it', async () => {
    const {context} = toolHome();
    expect(await run(context, {command: 'true; rm -rf x'}, {approved: true})).toMatchObject({code: 'DENIED'});
  });

  it.skipIf(!hasSandbox)('runs on the host only if that is what was approved', async () => {
    const {context, home} = toolHome();
    const path = join(home, 'of-the-home.txt');
    writeFileSync(path, 'seen');
    const command = `cat ${path}; true`;
    expect(await run(context, {command}, {approved: true})).toMatchObject({success: true, stdout: '', ran: 'sandbox'});
    expect(await run(context, {command, sandbox: 'host'}, {approved: true})).toMatchObject({
      stdout: 'seen',
      ran: 'host',
    });
  });

  it('leaves nothing behind, also what it put into the background', async () => {
    const {context} = toolHome();
    const time = `${50 + Math.random()}`;
    const command = `setsid sleep ${time} & sleep ${time} & echo done`;
    for (const sandbox of [undefined, 'host'])
      expect(await run(context, {command, sandbox}, {approved: true})).toMatchObject({success: true, stdout: 'done\n'});
    const {stdout} = spawnSync('ps', ['-eo', 'args'], {encoding: 'utf8'});
    expect(stdout).not.toContain(`sleep ${time}`);
  });
});

describe('what a command changed', () => {
  it('is listed: made, changed, removed, folders too', async () => {
    const {context, workspace} = toolHome();
    for (const name of ['changed', 'removed', 'same']) writeFileSync(join(workspace, name), name);
    const command = 'echo x >> changed; rm removed; mkdir -p a/b; touch a/b/c; ln -s x link';
    expect((await run(context, {command}, {approved: true})).changed_files).toEqual([
      {path: 'a/', change: 'created'},
      {path: 'a/b/', change: 'created'},
      {path: 'a/b/c', change: 'created'},
      {path: 'changed', change: 'modified'},
      {path: 'link', change: 'created'},
      {path: 'removed', change: 'deleted'},
    ]);
  });

  it('is at most a hundred of them, with the number of all', async () => {
    const {context} = toolHome();
    const found = await run(context, {command: 'touch f{1..150}'}, {approved: true});
    expect(found.changed_files).toHaveLength(100);
    expect(found.changed_count).toBe(150);
  });

  it('is looked for without following links, however they are swapped', async () => {
    const {context, workspace} = toolHome();
    const outside = mkdtempSync(join(tmpdir(), 'agentdir-outside-'));
    onTestFinished(() => rmSync(outside, {recursive: true}));
    writeFileSync(join(outside, 'secret-name'), '');
    chmodSync(join(outside, 'secret-name'), 0o4755);
    mkdirSync(join(workspace, 'd'));
    const swapping = spawn('sh', ['-c', `while :; do mv d e; ln -s ${outside} d; rm d; mv e d; done`], {
      cwd: workspace,
    });
    onTestFinished(() => void swapping.kill('SIGKILL'));
    for (let i = 0; i < 200; i++)
      expect(JSON.stringify([...((await snapshot(context, context.signal, true))?.files ?? [])])).not.toContain(
        'secret',
      );
    expect(statSync(join(outside, 'secret-name')).mode & 0o7777).toBe(0o4755);
  });

  it('is told by whatever bytes it is named', async () => {
    const {context} = toolHome();
    const command = "touch $'b\\xff' && mkdir $'d\\xfe' && touch $'d\\xfe/x'";
    expect((await run(context, {command}, {approved: true})).changed_files).toEqual([
      {path: 'b\xff', change: 'created'},
      {path: 'd\xfe/', change: 'created'},
      {path: 'd\xfe/x', change: 'created'},
    ]);
  });

  it('is never a program that acts as the user of the daemon for others', async () => {
    const {context, workspace} = toolHome();
    const command = 'cp /bin/true mine; chmod 0755 mine; chmod 6755 mine';
    if (hasSandbox)
      expect(await run(context, {command}, {approved: true})).toMatchObject({
        success: false,
        stderr: expect.stringContaining('not permitted'),
      });
    expect(await run(context, {command, sandbox: 'host'}, {approved: true})).toMatchObject({
      success: true,
      note: 'set-user-id bits were taken off mine',
    });
    expect(statSync(join(workspace, 'mine')).mode & 0o7777).toBe(0o755);
  });

  it.each([
    ['ls -la', true],
    ['cat a.txt | sort | head -3', true],
    ['git log --oneline', true],
    ['find . -name x', true],
    ['touch x', false],
    ['sort -o out.txt in.txt', false],
    ['npm test', false],
    ['unknown-program', false],
  ])('%s cannot write to the workspace: %s', async (command, readOnly) => {
    const {context} = toolHome();
    const policy = policyOf('ls *', 'cat *', 'sort *', 'sort -o out.txt *', 'head *', 'git log *', 'find *', command);
    expect(await planCommand({command}, policy, context)).toMatchObject({judgement: {verdict: 'allow'}, readOnly});
  });
});

describe('what a command printed outside the sandbox', () => {
  const policy = parseAllowlist(
    'version: 1\ncommands: {allow: [{match: "printenv *", sandbox: host}, {match: "echo *", sandbox: host}]}',
  ).policy;
  it.each([
    [{command: 'printenv HOME'}, false, undefined],
    [{command: 'echo x'}, false, undefined],
    [{command: 'echo x > y', sandbox: 'host'}, true, true],
    [{command: 'ls; touch z', sandbox: 'host'}, true, undefined],
    [{command: 'true < /dev/null'}, true, hasSandbox ? undefined : true],
  ])('%j may be of others, approved %s: %s', async (args, approved, untrusted) => {
    const found = await run(toolHome().context, args, {policy, approved});
    expect(found).toMatchObject({success: true});
    expect(found.untrusted).toBe(untrusted);
  });
});

describe('long output', () => {
  it('takes limited room: the oldest files go first, and none while a request of the agent is open', async () => {
    const {workspace, context} = toolHome();
    const folder = join(workspace, '.output');
    mkdirSync(folder, {recursive: true});
    const old = (name: string, minutes: number) => {
      writeFileSync(join(folder, name), 'x'.repeat(40_000));
      const time = Date.now() / 1000 - 60 * minutes;
      utimesSync(join(folder, name), time, time);
    };
    old('second.txt', 20);
    old('first.txt', 30);
    old('third.txt', 10);
    old('young.txt', 0);
    const print = (call: string, size: number, keepsOld: boolean, most = 200_000) => {
      const output = new CommandOutput({...context, call, outputs: {most, keepsOld}}, 'stdout', {untrusted: false});
      output.add(Buffer.from('é'.repeat(size / 2)));
      return output.end();
    };
    // 160,000 bytes of 200,000 are used. Nothing may go: there is room for the first 40,000 bytes of 50,000.
    const cut = print('c1', 50_000, true);
    expect(cut.text).toContain(
      'only the beginning is in .output/coder-1.c1.stdout.txt: .output/ is full (limits.output_mb',
    );
    expect(cut.text).toContain('its files stay while a request of this agent is open');
    const kept = readFileSync(join(folder, 'coder-1.c1.stdout.txt'), 'utf8');
    expect(kept).toMatch(/^é+$/);
    expect(Buffer.byteLength(kept)).toBeGreaterThan(39_990);
    expect(readdirSync(folder)).toHaveLength(5);
    // The oldest go until three quarters are used.
    const whole = print('c2', 50_000, false);
    expect(whole.text).toContain('the whole is in .output/coder-1.c2.stdout.txt');
    expect(readdirSync(folder).sort()).toEqual([
      'coder-1.c1.stdout.txt',
      'coder-1.c2.stdout.txt',
      'third.txt',
      'young.txt',
    ]);
    // What is being written stays, and what does not fit is not kept.
    const none = print('c3', 50_000, false, 60_000);
    expect(none.text).toContain('the whole was not kept: .output/ is full');
    expect(none.file).toBeUndefined();
    expect(readdirSync(folder)).not.toContain('third.txt');
    expect(readdirSync(folder)).toContain('young.txt');
  });

  const long = {command: 'seq 1 10000'};
  const policy = policyOf('seq *');

  it('of others is known for that in every session that reads it', async () => {
    const {context, workspace, run: call} = toolHome();
    const network = parseAllowlist(
      'version: 1\ncommands: {allow: [{match: "seq *", network: true}, "cat *", "grep *"]}',
    ).policy;
    const {stdout_file: theirs} = await run(context, long, {policy: network});
    const {stdout_file: ours} = await run({...context, call: 'call-2'}, long, {policy});
    writeFileSync(join(workspace, 'notes.md'), '4711\n');
    const marks = async (path: unknown) => [
      (await call('read_file', {path, limit: 2})).untrusted,
      (await call('edit_file', {path, old: '471', new: 'x'})).untrusted,
      (await call('grep', {pattern: '4711', path})).untrusted,
      (await call('search_files', {query: '4711', path})).untrusted,
      (await run(context, {command: `cat ${path}`}, {policy: network})).untrusted,
    ];
    expect(await marks(theirs)).toEqual([true, true, true, true, true]);
    expect(await marks(ours)).toEqual(Array(5).fill(undefined));
    expect(await marks('notes.md')).toEqual(Array(5).fill(undefined));
    expect(theirs).toMatch(/^\.untrusted\//);
    expect(ours).toMatch(/^\.output\//);
    expect(await call('grep', {pattern: '4711', path: '.untrusted'})).toMatchObject({untrusted: true});
    expect((await call('grep', {pattern: '4711', path: '.output'})).untrusted).toBeUndefined();
  });

  it('does not go where a link of the agent leads', async () => {
    const {context, workspace} = toolHome();
    const elsewhere = mkdtempSync(join(tmpdir(), 'agentdir-elsewhere-'));
    onTestFinished(() => rmSync(elsewhere, {recursive: true}));
    symlinkSync(elsewhere, join(workspace, '.output'));
    const found = await run(context, long, {policy});
    expect(found).toMatchObject({success: true, stdout: expect.stringContaining('the whole could not be kept')});
    expect(found.stdout_file).toBeUndefined();
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it('has a file of its own for each call, whatever a call is named', async () => {
    const files = new Set<unknown>();
    const {context, workspace} = toolHome();
    for (const call of ['call', 'call', '../../../up', '.git', 'a\u0000b', 'x'.repeat(500)]) {
      const {stdout_file} = await run({...context, call}, long, {policy});
      expect(readFileSync(join(workspace, String(stdout_file)), 'utf8')).toMatch(/^1\n[\s\S]*\n10000\n$/);
      files.add(stdout_file);
    }
    expect(files.size).toBe(6);
    expect(readdirSync(join(workspace, '.output'))).toHaveLength(6);
  });

  it('has no secret in it, nor has what is shown', async () => {
    const secret = 'correct-horse-battery-staple-4711';
    const {context, workspace} = toolHome({redact: makeRedactor([{name: 'MY_KEY', value: secret}])});
    writeFileSync(join(workspace, 'secret.txt'), secret);
    const command = 'cat secret.txt; seq 1 5000; cat secret.txt; seq 1 5000; cat secret.txt';
    const found = await run(context, {command}, {policy: policyOf('cat *', 'seq *')});
    const kept = readFileSync(join(workspace, String(found.stdout_file)), 'utf8');
    expect(kept.split('[redacted: MY_KEY]')).toHaveLength(4);
    expect(JSON.stringify(found) + kept).not.toContain(secret);
    expect(found.redacted).toBeUndefined();
  });
});

describe('a person who decides', () => {
  it('is told where the line will run, and there it runs', async () => {
    const {context} = toolHome();
    const rules = [
      {match: 'ls -a /', sandbox: 'host'},
      {match: 'cat /proc/net/dev', network: true},
    ];
    const {policy} = parseAllowlist(`version: 1\ncommands: {allow: ${JSON.stringify(rules)}}`);
    for (const [args, where, ran] of [
      [{command: 'ls -a / > out.txt'}, 'on the host, outside the sandbox', 'host'],
      [{command: 'cat /proc/net/dev > out.txt'}, 'in the sandbox: it sees the workspace', 'sandbox with network'],
      [{command: 'id > out.txt'}, 'in the sandbox: it sees the workspace', 'sandbox'],
      [{command: 'id', sandbox: 'host'}, 'on the host, outside the sandbox', 'host'],
    ] as const) {
      const {ask, execute} = await asking(context, 'execute_command', args, policy);
      if (hasSandbox) expect(textOf(ask)).toContain(`runs: ${where}`);
      expect(ask.basis.where).toBe(hasSandbox ? ran : 'host');
      expect(await execute()).toMatchObject({success: true, ran: hasSandbox ? ran : 'host'});
    }
  });

  it('sees the line, what it is made of, the risk, and where it would run', async () => {
    const {context, workspace} = toolHome();
    const args = {command: 'echo x > y; curl example.com', reason: 'to try', sandbox: 'host', network: true};
    const {ask} = await asking(context, 'execute_command', args, shipped);
    expect(ask).toMatchObject({
      type: 'terminal_command',
      title: `command on the host: ${args.command}`,
      reason: 'to try',
      risk: {level: 'HIGH'},
      edits: {argument: 'command', label: 'Command'},
      always: {none: expect.stringContaining('redirects')},
    });
    expect(ask.parts[0]).toEqual({label: 'Command', text: args.command, language: 'bash'});
    for (const part of [
      'to run on the host, network access',
      '"curl" "example.com"\n  ',
      'it redirects input or output',
      '120 s',
    ])
      expect(textOf(ask)).toContain(part);
    expect(existsSync(join(workspace, 'y'))).toBe(false);
  });
});

describe('a line with a secret', () => {
  it('a place where a secret was is not run as if it were the secret', async () => {
    const {context} = toolHome();
    const args = {command: "echo '[redacted: MY_KEY]'"};
    expect(await run(context, args)).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      error: expect.stringContaining('[redacted: MY_KEY] stands for a secret'),
    });
  });
});

describe('without a sandbox', () => {
  const policy = policyOf(
    'echo *',
    'git status',
    'npm test',
    'python3 x.py',
    'node --version',
    'npm --version',
    './run.sh',
    ...['grep *', 'find *', 'ls *', 'tree *', 'rg *', 'diff *'],
  );
  const commands = {mode: 'off' as const, sandbox: makeSandbox('/nonexistent')};

  it.each([
    ['echo x', undefined, 'allow'],
    ['node --version', undefined, 'allow'],
    ['npm --version', undefined, 'allow'],
    ['git status', undefined, 'allow'],
    ['git status', '.git/HEAD', /git does what the settings/],
    ['git status', '.git', /git does what the settings/],
    ['npm test', undefined, /npm does what files of the workspace say/],
    ['python3 x.py', 'x.py', /python3 does what x.py says/],
    ['./run.sh', 'run.sh', /agents can change that file/],
    ['grep -r x .', undefined, 'allow'],
    ['grep -Rn x .', undefined, /may follow links/],
    ['grep --dereference-r x .', undefined, /not an option of `grep` that is known/],
    ['find -L .', undefined, /may follow links/],
    ['ls -LR', undefined, /may follow links/],
    ['tree -l', undefined, /may follow links/],
    ['rg --fol x', undefined, /not an option of `rg` that is known/],
    ['diff -r a b', undefined, /may follow links/],
  ])('%s with %s there: %s', async (command, file, outcome) => {
    const {context, workspace} = toolHome({commands});
    if (file?.includes('/')) mkdirSync(join(workspace, '.git'));
    if (file) writeFileSync(join(workspace, file), 'gitdir: ./elsewhere\n');
    const plan = await planCommand({command}, policy, context);
    if (outcome === 'allow') expect(plan).toMatchObject({verdict: 'allow'});
    else expect(plan).toMatchObject({verdict: 'ask', reasons: [expect.stringMatching(outcome)]});
  });

  it('git works with the repository that is kept outside the workspace', async () => {
    const {context, workspace} = toolHome({commands});
    writeFileSync(join(workspace, '.git'), 'gitdir: ../../.workspaces/coder.git\n');
    expect(await planCommand({command: 'git status'}, policy, context)).toMatchObject({verdict: 'allow'});
  });
});

describe('the workspace', () => {
  it('is made with the first command, and is not a link that leads elsewhere', async () => {
    const {context, home, workspace} = toolHome();
    rmSync(workspace, {recursive: true});
    expect(await run(context, {command: 'pwd'})).toMatchObject({success: true, stdout: `${workspace}\n`});
    rmSync(workspace, {recursive: true});
    mkdirSync(join(home, 'elsewhere'));
    symlinkSync(join(home, 'elsewhere'), workspace);
    expect(await run(context, {command: 'pwd'})).toMatchObject({success: false, code: 'DENIED'});
  });
});
