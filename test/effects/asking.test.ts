import {spawnSync} from 'node:child_process';
import {chmodSync, linkSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {makeSandbox} from '../../src/effects/sandbox/sandbox.ts';
import type {Ask, ToolContext, ToolFailure} from '../../src/effects/tool/tool.ts';
import {prepareCall} from '../../src/effects/tools/prepare-call.ts';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import {addRules} from '../../src/formats/allowlist-edit.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {PEM} from '../redteam/secret-forms.ts';
import {askAll, asking, textOf, toolHome} from './tool-home.ts';

/** Nothing is run here, so nothing need be confined. */
const commands = {mode: 'off', sandbox: makeSandbox('/nonexistent')} as const;

async function basisOf(context: ToolContext, command: string): Promise<Ask['basis']> {
  return (await asking(context, 'execute_command', {command})).ask.basis;
}

describe('a file that is to be written', () => {
  it('is shown as a diff against what is there, and the decision is bound to that', async () => {
    const {context, workspace} = toolHome();
    const file = join(workspace, 'f');
    const write = async () => (await asking(context, 'write_file', {path: 'f', content: 'a\nB\n'})).ask;
    const none = await write();
    expect(none).toMatchObject({type: 'file_write', title: 'write file: f', basis: {file: 'none'}});
    expect(textOf(none)).toContain('--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+B\n');
    writeFileSync(file, 'a\nb\n');
    const first = await write();
    expect(textOf(first)).toContain('--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n');
    expect(first.parts.at(-1)).toEqual({label: 'Content', text: 'a\nB\n'});
    expect(first.basis.file).toMatch(/^sha256:[0-9a-f]{64}$/);
    writeFileSync(file, 'a\nc\n');
    const second = await write();
    expect(textOf(second)).toContain('-c\n+B\n');
    expect(second.basis).not.toEqual(first.basis);
    writeFileSync(file, 'a\nb\n');
    expect(await write()).toEqual(first);
    const {ask} = await asking(context, 'edit_file', {path: 'f', old: 'b', new: 'x'});
    expect(ask.basis).toEqual(first.basis);
    expect(textOf(ask)).toContain('@@ -1,2 +1,2 @@\n a\n-b\n+x\n');
  });

  it('of binary content is told by its size', async () => {
    const {context, workspace} = toolHome();
    writeFileSync(join(workspace, 'f'), Buffer.from([0, 1, 2]));
    const {ask} = await asking(context, 'write_file', {path: 'f', content: 'text'});
    expect(textOf(ask)).toContain('binary: 3 bytes');
  });

  it('shows no secret that was in it, on however many lines', async () => {
    const {context, workspace} = toolHome({redact: makeRedactor([])});
    writeFileSync(join(workspace, 'f'), `before\n${PEM}\nafter\n`);
    for (const [name, args] of [
      ['write_file', {path: 'f', content: 'x\n'}],
      ['edit_file', {path: 'f', old: 'before', new: 'else'}],
    ] as const) {
      const {ask} = await asking(context, name, args);
      for (const line of PEM.split('\n').slice(1, -2)) expect(textOf(ask)).not.toContain(line);
      expect(textOf(ask)).toContain('before');
    }
  });

  it.each<[string, object, ToolFailure['code'], RegExp]>([
    ['create_file', {path: 'there', content: ''}, 'FAILED', /exists already/],
    ['create_file', {path: 'there/x', content: ''}, 'FAILED', /is a file, not a directory/],
    ['write_file', {path: 'folder', content: ''}, 'FAILED', /is a directory/],
    ['write_file', {path: 'link', content: ''}, 'DENIED', /symbolic link/],
    ['write_file', {path: 'linked/x', content: ''}, 'DENIED', /symbolic link/],
    ['write_file', {path: 'hard', content: ''}, 'DENIED', /hard link/],
    ['write_file', {path: '../x', content: ''}, 'DENIED', /not allowed/],
    ['edit_file', {path: 'there', old: 'no', new: 'x'}, 'FAILED', /./],
    ['edit_file', {path: 'hard', old: 'h', new: 'x'}, 'DENIED', /hard link/],
    ['edit_file', {path: 'none', old: 'a', new: 'x'}, 'FAILED', /does not exist/],
    ['create_directory', {path: 'there'}, 'FAILED', /is a file/],
    ['create_directory', {path: 'there/x'}, 'FAILED', /is a file/],
    ['create_directory', {path: '.git/x'}, 'DENIED', /git/],
  ])('%s %j would fail, so nobody is asked', async (name, args, code, error) => {
    const {context, workspace} = toolHome();
    writeFileSync(join(workspace, 'there'), 'text');
    writeFileSync(join(workspace, 'hard'), 'h');
    linkSync(join(workspace, 'hard'), join(workspace, 'hard2'));
    mkdirSync(join(workspace, 'folder'));
    symlinkSync('there', join(workspace, 'link'));
    symlinkSync('folder', join(workspace, 'linked'));
    const before = readdirSync(workspace, {recursive: true});
    const ready = await prepareCall({name, arguments: JSON.stringify(args)}, [name], askAll, context);
    if ('refused' in ready || !ready.ask) throw new Error(JSON.stringify(ready));
    const failure = await ready.ask();
    expect(failure).toMatchObject({success: false, code, error: expect.stringMatching(error)});
    // What is foretold is what would be.
    expect(await ready.execute()).toEqual(failure);
    expect(readdirSync(workspace, {recursive: true})).toEqual(before);
  });

  it('or a folder may be where nothing is yet', async () => {
    const {context, workspace} = toolHome();
    for (const [name, args] of [
      ['create_file', {path: 'a/b/c', content: 'x'}],
      ['create_directory', {path: 'a/b'}],
    ] as const)
      await asking(context, name, args);
    expect(readdirSync(workspace)).toEqual([]);
    expect((await asking(context, 'create_directory', {path: './a//b'})).ask).toMatchObject({
      title: 'folder: a/b',
      basis: {},
    });
  });
});

describe('a decision about a command is bound to the scripts it runs', () => {
  it.each([
    ['./deploy.sh now', 'deploy.sh'],
    ['bash deploy.sh', 'deploy.sh'],
    ['cat deploy.sh | bash', 'deploy.sh'],
    ['env X=1 timeout 9 sh -e ./deploy.sh', 'deploy.sh'],
    ['bash -c "sh deploy.sh"', 'deploy.sh'],
    ['bash < plain', 'plain'],
    ['for f in plain; do . ./$f; done', 'plain'],
    ['X=deploy.sh; bash $X', 'deploy.sh'],
    ['bash *.sh', 'deploy.sh'],
    ['cd sub && ./run', 'sub/run'],
    ['make -C sub all', 'sub/Makefile'],
    ['make', 'GNUmakefile'],
    ['npm test', 'package.json'],
    ['bash linked.sh', 'target'],
    ['bash folder/run', 'sub/run'],
    ['awk -f prog data', 'prog'],
    ['python3 -m tool', 'tool.py'],
    ['PATH=. run-me > out', 'run-me'],
  ])('%s: %s', async (command, path) => {
    const {context, workspace} = toolHome({commands});
    mkdirSync(join(workspace, 'sub'));
    symlinkSync('target', join(workspace, 'linked.sh'));
    symlinkSync('sub', join(workspace, 'folder'));
    const put = (text: string) => {
      writeFileSync(join(workspace, path), text);
      chmodSync(join(workspace, path), 0o755);
    };
    const missing = await basisOf(context, command);
    put('#!/bin/sh\necho 1\n');
    const first = await basisOf(context, command);
    expect(first).not.toEqual(missing);
    expect(await basisOf(context, command)).toEqual(first);
    put('#!/bin/sh\necho 2\n');
    const second = await basisOf(context, command);
    expect(second).not.toEqual(first);
    expect(second).not.toEqual(missing);
  });

  it.each([
    ['go run main.go', 'main.go'],
    ['ansible-playbook -i hosts site.yml', 'site.yml'],
    ['crontab list', 'list'],
    ['terraform apply', 'net.tf'],
    ['mocha', '.mocharc.cjs'],
    ['eslint .', 'eslint.config.mjs'],
    ['vite build', 'vite.config.ts'],
    ['jest', 'jest.config.cjs'],
    ['gulp', 'gulpfile.js'],
  ])('%s: %s, though nothing marks it as a program', async (command, path) => {
    const {context, workspace} = toolHome({commands});
    writeFileSync(join(workspace, path), 'one\n');
    const first = await basisOf(context, command);
    writeFileSync(join(workspace, path), 'two\n');
    expect(await basisOf(context, command)).not.toEqual(first);
  });

  it('and to nothing but the files it names, if it is known to read no others', async () => {
    const {context, workspace} = toolHome({commands});
    for (const name of ['data.csv', 'notes.md']) writeFileSync(join(workspace, name), 'x');
    const basis = await basisOf(context, 'cp notes.md copy.md && cat /etc/hostname');
    expect(basis).toEqual({
      where: expect.any(String),
      'file notes.md': expect.stringMatching(/^sha256:/),
      'file copy.md': 'missing',
    });
    writeFileSync(join(workspace, 'data.csv'), 'changed');
    expect(await basisOf(context, 'cp notes.md copy.md && cat /etc/hostname')).toEqual(basis);
    expect(await basisOf(context, 'cp -r . copy')).toHaveProperty('workspace');
  });

  it.each([
    ['cat .output/x.txt | sh', '.output/x.txt'],
    ['python3 run.py', '.output/mod.py'],
    ['./run', '.untrusted/data'],
    ['make', '.x.agentdir-tmp-1'],
    ['git push', 'src/.#lock~'],
    ['PATH=./bin id', 'bin/id'],
    ['docker build .', 'deep/…/file'],
  ])('%s: everything that it can read, such as %s', async (command, name) => {
    const path = name.replace('…/', 'deep/'.repeat(300));
    const {context, workspace} = toolHome({commands});
    mkdirSync(dirname(join(workspace, path)), {recursive: true});
    writeFileSync(join(workspace, path), 'one');
    const first = await basisOf(context, command);
    expect(await basisOf(context, command)).toEqual(first);
    const {atime, mtime} = statSync(join(workspace, path));
    writeFileSync(join(workspace, path), 'two');
    utimesSync(join(workspace, path), atime, mtime);
    expect(await basisOf(context, command)).not.toEqual(first);
  });

  it('nobody is asked if there is more than can be compared', async () => {
    const {context, workspace} = toolHome({commands});
    // In two parts, because a path has at most 4,096 bytes.
    const half = 'd/'.repeat(1_050);
    spawnSync('sh', ['-c', `mkdir -p ${half} && cd ${half} && mkdir -p ${half}`], {cwd: workspace});
    const call = {name: 'execute_command', arguments: JSON.stringify({command: './deploy.sh'})};
    const ready = await prepareCall(call, ['execute_command'], askAll, context);
    const ask = 'refused' in ready ? ready.refused : await ready.ask();
    expect(ask).toMatchObject({success: false, code: 'FAILED'});
    expect(JSON.stringify(ask)).toContain('its folders are more than 2000 levels deep');
    spawnSync('rm', ['-rf', 'd'], {cwd: workspace});
  });

  it('large ones, and those elsewhere, are known by what no program can set back; nothing is read there', async () => {
    const {context, workspace, home} = toolHome({commands});
    writeFileSync(join(workspace, 'large.sh'), Buffer.alloc(5 * 1024 * 1024));
    writeFileSync(join(home, 'out.sh'), 'secret');
    symlinkSync('../../out.sh', join(workspace, 'out.sh'));
    mkdirSync(join(workspace, 'dir.sh'));
    const basis = await basisOf(context, './large.sh; ./out.sh; ./dir.sh');
    expect(basis).toMatchObject({
      'script large.sh': expect.stringMatching(/^unread \d+ 5242880 /),
      'script out.sh': expect.stringMatching(/^unread \d+ 6 /),
      'script dir.sh': 'directory',
    });
    writeFileSync(join(home, 'out.sh'), 'SECRET');
    expect((await basisOf(context, './out.sh'))['script out.sh']).not.toBe(basis['script out.sh']);
  });

  it('however many they are', async () => {
    const {context, workspace} = toolHome({commands});
    const names = Array.from({length: 70}, (_, i) => `s${i}.sh`);
    for (const name of names) writeFileSync(join(workspace, name), name);
    const basis = await basisOf(context, names.map(name => `sh ${name}`).join('; '));
    expect(names.map(name => basis[`script ${name}`]?.slice(0, 6))).toEqual([
      ...Array.from({length: 64}, () => 'sha256'),
      ...Array.from({length: 6}, () => 'unread'),
    ]);
  });
});

describe('always', () => {
  const policyOf = (text: string) => parseAllowlist(`version: 1\n${text}`).policy;

  it('gives rules with which the very call runs by itself', async () => {
    const {context} = toolHome();
    const text = 'version: 1\ncommands: {allow: ["ls *"], ask: ["touch *"]}\n';
    const args = {command: "ls && touch 'a b' \"it's\" '*'"};
    const {ask} = await asking(context, 'execute_command', args, parseAllowlist(text).policy);
    if ('none' in ask.always) throw new Error(ask.always.none);
    expect(ask.always.rules).toEqual([{match: `touch 'a b' 'it'"'"'s' [*]`, agents: ['coder']}]);
    const {policy} = parseAllowlist(addRules(text, ask.always.rules, 'approval 1'));
    const call = (command: string) => ({name: 'bash', arguments: JSON.stringify({...args, command})});
    const ready = await prepareCall(call(args.command), ['bash'], policy, context);
    if ('refused' in ready) throw new Error(JSON.stringify(ready));
    expect(ready.asks).toBe(false);
    expect(await ready.execute()).toMatchObject({success: true});
    expect(readdirSync(context.workspace).sort()).toEqual(['*', 'a b', "it's"]);
    for (const other of ["touch 'a b' \"it's\" x", 'touch a b'])
      expect(await prepareCall(call(other), ['bash'], policy, context)).toMatchObject({asks: true});
    const elsewhere = await prepareCall(call(args.command), ['bash'], policy, {...context, agent: 'other'});
    expect(elsewhere).toMatchObject({ask: expect.any(Function)});
  });

  it('says that nobody will be asked about the files it runs', async () => {
    const {context, workspace} = toolHome();
    writeFileSync(join(workspace, 'run.sh'), 'echo hi\n', {mode: 0o755});
    const {ask} = await asking(context, 'execute_command', {command: './run.sh'}, policyOf('commands: {}'));
    expect(ask.always).toMatchObject({rules: [{match: './run.sh'}], but: expect.stringContaining('whatever run.sh')});
  });

  it('grants what the call asks for, and nothing that it does not', async () => {
    const {context} = toolHome();
    const policy = policyOf('commands: {allow: ["ls *"]}');
    const {ask} = await asking(context, 'execute_command', {command: 'ls', sandbox: 'host', network: true}, policy);
    expect(ask.always).toEqual({rules: [{match: 'ls', sandbox: 'host', network: true, agents: ['coder']}]});
  });

  it.each<[string, object, string, RegExp]>([
    ['', {command: 'ls > x'}, 'off', /redirects/],
    ['', {command: 'cd x && ls'}, 'off', /only inside a shell/],
    ['', {command: 'echo sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789'}, 'off', /secret/],
    ['', {command: 'npm test'}, 'off', /there is no sandbox/],
    ['commands: {allow: [uptime]}', {command: 'uptime', sandbox: 'host'}, 'auto', /sandbox: host/],
    ['', {command: 'bash b.sh', sandbox: 'host'}, 'auto', /bash does what b.sh says outside the sandbox/],
    ['', {command: 'uptime; env node x.mjs', sandbox: 'host'}, 'auto', /env does what x.mjs says/],
    ['', {command: 'make', sandbox: 'host'}, 'auto', /make does what /],
  ])('%s %j %s: there is none', async (text, args, mode, why) => {
    const off = mode === 'off';
    const {context} = toolHome(off ? {commands} : {});
    const {ask} = await asking(context, 'execute_command', args, policyOf(text || 'tools: {}'));
    expect(ask.always).toEqual({none: expect.stringMatching(why)});
    if (off) {
      expect(ask.risk.factors.join()).toContain(
        'runs unconfined because there is no sandbox: agentdir.yaml has sandbox',
      );
      expect(textOf(ask)).toContain('runs: without a sandbox');
      expect(ask.basis.where).toBe('host');
    }
  });
});

describe('a rule with sandbox: host', () => {
  const rules = ['bash b.sh', 'uptime', 'docker ps *', 'bash /opt/deploy.sh'];
  const {policy} = parseAllowlist(
    `version: 1\ncommands: {allow: [${rules.map(match => `{match: "${match}", sandbox: host}`).join(', ')}]}`,
  );
  const asks = async (command: string) => {
    const {context, workspace} = toolHome();
    writeFileSync(join(workspace, 'b.sh'), 'echo 1\n');
    const ready = await prepareCall({name: 'bash', arguments: JSON.stringify({command})}, ['bash'], policy, context);
    return 'asks' in ready && ready.asks;
  };

  it('does not let a script of the workspace out, for an agent can write it anew', async () => {
    expect(await asks('bash b.sh')).toBe(true);
    for (const line of ['uptime', 'docker ps -f name=redis', 'bash /opt/deploy.sh'])
      expect(await asks(line)).toBe(false);
  });
});

describe('a session that has read what came from outside', () => {
  const {policy} = parseAllowlist(
    'version: 1\ncommands: {allow: ["curl --version", {match: "echo x", network: true}, "echo y", "openssl version"]}\n',
  );

  it.each([
    ['echo x', /^echo runs with network access, and this session has read/],
    ['curl --version', /^curl reaches other machines, and this session has read/],
    ['openssl version', /^openssl runs where it can reach other machines, and this session has read/],
  ])('is asked about %s where there is no sandbox, too', async (command, why) => {
    const {context} = toolHome({commands, tainted: ['inbox/a.jsonl#1']});
    const {ask} = await asking(context, 'execute_command', {command}, {...askAll, ...policy});
    expect(ask.why[0]).toMatch(why);
    await expect(
      asking({...context, tainted: []}, 'execute_command', {command}, {...askAll, ...policy}),
    ).rejects.toThrow('nobody');
    await expect(asking(context, 'execute_command', {command: 'echo y'}, {...askAll, ...policy})).rejects.toThrow(
      'nobody',
    );
  });
});
