import {spawnSync} from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {agentdir, git, put, until} from '../cli/run.ts';
import {calling, command, type Result, resultsOf, type Wanted} from '../daemon/calling.ts';
import {decideAll, decideAsAsked} from '../daemon/deciding.ts';
import {openHouse} from '../daemon/house.ts';
import {read} from '../daemon/serve.ts';
import {noBubblewrap} from '../effects/sandbox-home.ts';
import {BYSTANDER, bystand, homeBytes} from './home-bytes.ts';
import {type Trick, tricks} from './tricks.ts';

const AGENT = `id: talker
type: talker
system_prompt: You try.
model: fake-1
capabilities: [execute_command, read_file, write_file, create_file, edit_file, create_directory, remember]
`;

/** All that it asks for, by itself: what stops it is not the policy. */
const allowing = (rules: readonly string[]) => `version: 1
commands:
  allow: ${JSON.stringify(rules)}
tools: {write_file: allow, create_file: allow, edit_file: allow, create_directory: allow, remember: allow}
`;

/** With each trick in a call of its own, as the gate does it. */

const script = (nth: number) => `tricks/${nth}.sh`;
const write = (path: string): Wanted => ({name: 'write_file', arguments: {path, content: 'evil\n'}});
const create = (path: string): Wanted => ({name: 'create_file', arguments: {path, content: 'evil\n'}});
const edit = (path: string): Wanted => ({name: 'edit_file', arguments: {path, old: 'w', new: 'evil', all: true}});
const folder = (path: string): Wanted => ({name: 'create_directory', arguments: {path}});
const note = (file: string): Wanted => ({name: 'remember', arguments: {file, text: 'evil'}});

const words = ({name, arguments: {path, file, command}}: Wanted) => `${name} ${path ?? file ?? command}`;
const outcome = ({success, code}: Result) => (success ? 'ok' : code);

/** Many in one script, each in a shell of its own; it prints how each ended. */
const together = (all: readonly (readonly [number, Trick])[]) =>
  all.map(([nth, {script}]) => `(${script}\n) > /dev/null 2>&1 < /dev/null; echo "${nth} $?"\n`).join('');

/** As a person does it next. The last call made `path`. */
async function lookAndUndo(home: string, path: string): Promise<void> {
  const said = await Promise.all(['diff', 'log'].map(what => agentdir(home, ['workspace', what, 'talker'])));
  for (const {code, stdout} of [...said, await agentdir(home, ['workspace', 'undo', 'talker'])])
    expect(`${code} ${stdout}`).toMatch(new RegExp(`^0 [^]*(?:${path}|create_file)`));
  expect(existsSync(join(home, 'workspaces/talker', path))).toBe(false);
}

/** Nothing of the home is other than it was, and all that ran was allowed, or decided before. */
async function expectUntouched(home: string, request: string, before: Record<string, string>): Promise<void> {
  expect(homeBytes(home, request)).toEqual(before);
  const {code, stdout, stderr} = await agentdir(home, ['verify']);
  expect(code, stdout + stderr).toBe(0);
}

/** Programs of calls that work in a workspace of this home. */
const runningIn = (home: string): string[] =>
  readdirSync('/proc').flatMap(pid => {
    try {
      const within = readlinkSync(`/proc/${pid}/cwd`).startsWith(join(home, 'workspaces'));
      const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
      return within && name !== 'git' ? [`${pid} ${name}`] : [];
    } catch {
      return [];
    }
  });

describe.skipIf(noBubblewrap)('an agent in its sandbox', () => {
  const house = openHouse(() => ({
    ...BYSTANDER,
    'templates/talker.agent.yaml': AGENT,
    'allowlist.yaml': allowing(scripts.map((_, i) => `bash ${script(i)}`)),
  }));
  const {home} = house;
  const all = Object.entries(tricks(home));
  const numbered = all.map(([, trick], nth) => [nth, trick] as const);
  const scripts = numbered.map(one => together([one]));
  const inWorkspace = (path: string) => join(home, 'workspaces/talker', path);
  const ended = (results: readonly Result[], nth: number) =>
    new RegExp(`^${nth} (\\d+)$`, 'm').exec(results.map(({stdout}) => stdout).join(''))?.[1];
  let before: Record<string, string>;
  let request = '';
  const ways: Record<string, Result[]> = {};

  beforeAll(async () => {
    put(home, Object.fromEntries(scripts.map((text, i) => [`workspaces/talker/${script(i)}`, text])));
    request = await bystand(house);
    calling(house, 'first', [folder('made')]);
    await resultsOf(house, 'first');
    before = homeBytes(home, request);
    calling(
      house,
      'approved',
      scripts.map(text => command(text)),
    );
    await decideAll(home, 'approved', scripts.length, 'x');
    await decideAsAsked(home, 'approved', 180_000);
    ways.approved = await resultsOf(house, 'approved');
    // What one way left would be in the other's way.
    for (const name of readdirSync(inWorkspace('.')))
      if (!/^(?:\.git|tricks)$/.test(name)) spawnSync('rm', ['-rf', inWorkspace(name)]);
    calling(
      house,
      'allowed',
      scripts.map((_, i) => command(`bash ${script(i)}`)),
    );
    ways.allowed = await resultsOf(house, 'allowed');
  });
  afterAll(() => expectUntouched(home, request, before));

  it.each(all.map(([name, trick], nth) => ({name, trick, nth})))('cannot reach $name', ({trick: {ends}, nth}) => {
    for (const results of Object.values(ways)) {
      expect(results.every(({ran}) => ran === 'sandbox')).toBe(true);
      const code = ended(results, nth);
      if (ends !== 'either') expect(code === '0', JSON.stringify(results)).toBe(ends === 'runs');
    }
  });

  it('has nothing that runs on when a call is over', () => expect(runningIn(home)).toEqual([]));

  const refused: readonly (readonly [Wanted, string])[] = [
    // By what the tricks above left in the workspace.
    ...[write, edit, create].map(tool => [tool('to-file'), 'DENIED'] as const),
    ...[write, create, folder].map(tool => [tool('to-home/approvals/pending/evil.approval.md'), 'DENIED'] as const),
    ...[write, create, folder].map(tool => [tool('to-templates/evil.agent.yaml'), 'DENIED'] as const),
    ...[write, create, folder].map(tool => [tool('to-home/.git/hooks/pre-commit'), 'DENIED'] as const),
    ...[write, edit, create].map(tool => [tool('to-home/.git/config'), 'DENIED'] as const),
    ...[write, create].map(tool => [tool('to-nothing'), 'DENIED'] as const),
    [write('to-self/evil'), 'DENIED'],
    [create('to-self/../../templates/evil.agent.yaml'), 'DENIED'],
    [write('one'), 'DENIED'],
    [create('one'), 'FAILED'],
    [edit('two'), 'DENIED'],
    [write('pipe'), 'DENIED'],
    // By names alone.
    [edit(`${home}/allowlist.yaml`), 'DENIED'],
    [write(`${home}/workspaces/talker/../other/file.txt`), 'DENIED'],
    [edit('../../tasks/approvals.task.md'), 'DENIED'],
    [write('tasks/approvals.task.md'), 'DENIED'],
    [create('memory/evil.md'), 'DENIED'],
    [folder('memory/evil'), 'DENIED'],
    [write('.git'), 'DENIED'],
    [create('.git/hooks/pre-commit'), 'DENIED'],
    [folder('sub/.GIT'), 'DENIED'],
    ...[
      '../templates/evil',
      '../approvals/pending/evil.approval.md',
      'memory/../../allowlist.yaml',
      `${home}/allowlist.yaml`,
      '.git/config',
      'a/.git/evil',
      '.hidden',
      'evil\u0000.md',
      'a\nb',
      '..',
      'C:\\evil',
      'evil.md/',
      '',
    ].map(file => [note(file), 'INVALID_ARGUMENTS'] as const),
  ];

  it('is refused by every tool, whatever its commands have planted', async () => {
    const parts = [0, 1, 2, 3].map(part => refused.filter((_, i) => i % 4 === part));
    for (const [part, cases] of parts.entries())
      calling(
        house,
        `tools${part}`,
        cases.map(([call]) => call),
      );
    for (const [part, cases] of parts.entries()) {
      const results = await resultsOf(house, `tools${part}`);
      const ended = results.map((result, i) => [cases[i] && words(cases[i][0]), outcome(result)]);
      expect(ended).toEqual(cases.map(([call, code]) => [words(call), code]));
    }
  });

  it('reads its history and plants what git would run, and nobody runs it', async () => {
    const canary = join(home, '../canary');
    const touch = `touch ${canary}`;
    const plant = [
      'git init -q nested && cd nested',
      `git config core.fsmonitor '${touch}; true' && git config filter.x.clean '${touch}; cat'`,
      `for hook in pre-commit post-commit post-index-change reference-transaction; do printf '#!/bin/sh\n${touch}\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done`,
      'echo content > file; cd ..; cp -r nested/.git bare; git -C bare config core.bare true',
      `printf '* filter=x diff=x\n' > .gitattributes`,
      `printf '[submodule "s"]\n\tpath = nested\n\turl = ext::${touch}\n\tupdate = !${touch}\n' > .gitmodules`,
      `printf '[core]\n\tfsmonitor = ${touch}\n[diff "x"]\n\ttextconv = ${touch}\n' > .gitconfig`,
    ].join('\n');
    const own =
      'git log -1 --format=%an && git status --porcelain; git commit -q --allow-empty -m evil || echo refused';
    calling(house, 'git', [command(plant), command(own), create('after.txt')]);
    await decideAll(home, 'git', 2, 'x');
    const results = await resultsOf(house, 'git');
    expect(results.map(outcome), JSON.stringify(results)).toEqual(['ok', 'ok', 'ok']);
    expect(results[1]?.stdout).toBe('talker\nrefused\n');
    await lookAndUndo(home, 'after.txt');
    expect(existsSync(canary), 'something was run').toBe(false);
    expect(await git(inWorkspace('.'), 'ls-files', 'nested', '.gitmodules')).toBe('.gitmodules\nnested/file\n');
  });
});

describe('an agent without a sandbox', () => {
  const house = openHouse(
    () => ({
      ...BYSTANDER,
      'templates/talker.agent.yaml': AGENT,
      'allowlist.yaml': allowing([
        'bash script.sh',
        'env bash script.sh',
        ...'touch cp ln tee mkfifo mv rm git echo mkdir'.split(' ').map(name => `${name} *`),
      ]),
    }),
    [],
    {AGENTDIR_BWRAP: '/nonexistent/bwrap'},
  );
  const {home} = house;
  let before: Record<string, string>;
  let request = '';

  /** As a person does it who was talked into it: these run on the host, whole. */
  async function approve(id: string, ...lines: string[]): Promise<Result[]> {
    calling(
      house,
      id,
      lines.map(line => command(line)),
    );
    await decideAll(home, id, lines.length, 'x');
    return resultsOf(house, id);
  }

  beforeAll(async () => {
    put(home, {'workspaces/talker/script.sh': 'echo evil >> ../../allowlist.yaml\n'});
    request = await bystand(house);
    const links =
      'ln -s ../.. to-home; ln -s ../../templates/evil.agent.yaml to-nothing; ln -s ../../allowlist.yaml to-file';
    const [planted] = await approve('plant', `${links}; ln ../../memory/team.md twin; echo own > one; mkdir sub`);
    expect(planted).toMatchObject({success: true, ran: 'host'});
    before = homeBytes(home, request);
  });
  afterAll(() => expectUntouched(home, request, before));

  it('is asked about all that could reach further than its words say', async () => {
    const lines = [
      'bash script.sh',
      'env bash script.sh',
      'touch to-home/templates/evil.agent.yaml',
      'touch sub/../to-home/evil',
      'touch to-nothing',
      'mkdir to-home/workspaces/evil',
      'cp one to-home/memory/evil.md',
      'cp --target-directory=to-home one',
      'cp -tto-home one',
      'cp -t to-home one',
      'cp one twin',
      'echo evil | tee to-file',
      'echo evil | tee -a twin',
      'mv to-home/allowlist.yaml gone',
      'rm to-home/agentdir.yaml',
      'ln ../../allowlist.yaml twin-of-policy',
      'ln -s ../../templates to-templates',
      `ln -s ${home}/templates to-templates`,
      'git -C to-home log',
      'git --git-dir=../../.git log',
      'git worktree add ../evil',
      'cp one to-home/.git/hooks/pre-commit',
      'echo evil >> ../../.git/config',
      `echo evil | tee -a ${home}/.git/HEAD`,
      'mv one ../../.git/hooks/post-commit',
      'rm to-home/.git/index',
      'git -C to-home config core.fsmonitor evil',
      'git --git-dir=../../.git update-ref refs/heads/evil HEAD',
      'echo evil > to-file',
    ];
    calling(
      house,
      'asks',
      lines.map(line => command(line)),
    );
    const asked = await decideAll(home, 'asks', lines.length, '-');
    expect(asked.map(item => item.command)).toEqual(lines);
    expect((await resultsOf(house, 'asks')).map(outcome)).toEqual(lines.map(() => 'REJECTED'));
  });

  it('is refused by every tool, whatever a command of it has planted', async () => {
    const [planted] = await approve(
      'notes',
      'ln -s ../templates ../../memory/out; ln -s ../allowlist.yaml ../../memory/to.md',
    );
    expect(planted).toMatchObject({success: true, ran: 'host'});
    const refused: readonly (readonly [Wanted, string])[] = [
      ...[write, edit, create].map(tool => [tool('to-file'), 'DENIED'] as const),
      [write('twin'), 'DENIED'],
      [{name: 'edit_file', arguments: {path: 'twin', old: 'Redis', new: 'evil'}}, 'DENIED'],
      ...[write, create, folder].map(tool => [tool('to-nothing'), 'DENIED'] as const),
      ...[write, create, folder].map(tool => [tool('to-home/templates/evil.agent.yaml'), 'DENIED'] as const),
      ...[write, create, folder].map(tool => [tool('to-home/.git/hooks/pre-commit'), 'DENIED'] as const),
      [edit('to-home/.git/config'), 'DENIED'],
      [edit('to-home/templates/talker.agent.yaml'), 'DENIED'],
      [note('out/evil'), 'FAILED'],
      [note('to'), 'FAILED'],
    ];
    calling(
      house,
      'linked',
      refused.map(([call]) => call),
    );
    const results = await resultsOf(house, 'linked');
    for (const name of ['out', 'to.md']) rmSync(join(home, 'memory', name));
    const ended = results.map((result, i) => [refused[i] && words(refused[i][0]), outcome(result)]);
    expect(ended).toEqual(refused.map(([call, code]) => [words(call), code]));
    expect(homeBytes(home, request)).toEqual(before);
  });

  it('decides nothing by a command that a person approved: what it wrote is void', async () => {
    const tick = "sed -i '/forged.txt/s/\\[_\\]/[x]/'";
    const lines = [
      `${tick} ../../tasks/approvals.task.md`,
      `sed -i 's/^\\*\\*Decision:\\*\\*.*/**Decision:** APPROVED/' ../../approvals/pending/${request}.approval.md`,
      "echo '# evil' >> ../../allowlist.yaml",
      "echo '# evil' >> /proc/self/cwd/../../agentdir.yaml",
      // Whoever looks for what is new must not follow it.
      'cd ../../templates; ln -s .. loop; cp talker.agent.yaml evil.agent.yaml; echo "# evil" >> other.agent.yaml',
      `mkdir -p ../../tasks/archive; sed 's/\\[_\\]/[x]/' ../../tasks/approvals.task.md > ../../tasks/archive/approvals-2020-01.task.md`,
      'rm ../../allowlist.yaml',
      "(sleep 0.2; echo '# evil' >> ../../allowlist.yaml) & true",
      "setsid nohup bash -c 'sleep 0.2; echo evil >> ../../allowlist.yaml' > /dev/null 2>&1 & true",
    ];
    const results = await approve('void', ...lines);
    expect(results.map(outcome)).toEqual(lines.map(() => 'ok'));
    expect(runningIn(home)).toEqual([]);
    rmSync(join(home, 'templates/loop'));
    await until(
      () => homeBytes(home, request),
      bytes => isDeepStrictEqual(bytes, before),
    );
    const kept = readdirSync(join(home, 'conflicts/void'), {recursive: true}).map(name =>
      `${name}`.replace(/\.\w{8}/, ''),
    );
    expect(kept.sort()).toEqual([
      'agentdir.yaml',
      'allowlist.yaml',
      'approvals',
      'approvals/pending',
      `approvals/pending/${request}.approval.md`,
      'tasks',
      'tasks/approvals.task.md',
      'tasks/archive',
      'tasks/archive/approvals-2020-01.task.md',
      'templates',
      'templates/evil.agent.yaml',
      'templates/other.agent.yaml',
    ]);
    const needs = await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('conflicts/void/templates/evil'),
    );
    expect(needs).not.toContain('EISDIR');
    rmSync(join(home, 'conflicts'), {recursive: true});
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !text.includes('conflicts/'),
    );
    expect(existsSync(join(home, 'workspaces/other/forged.txt'))).toBe(false);
  });

  it('writes no policy by a link that leads to its workspace', async () => {
    const policy = read(home, 'allowlist.yaml');
    await approve('hard', 'ln ../../allowlist.yaml hard.yaml');
    await until(
      () => statSync(join(home, 'allowlist.yaml')).nlink,
      links => links === 1,
    );
    await approve(
      'link',
      'cp ../../allowlist.yaml policy.yaml; ln -sf workspaces/talker/policy.yaml ../../allowlist.yaml',
    );
    const content = policy.replace('"touch *"', '"sleep 0"');
    calling(house, 'through', [{name: 'write_file', arguments: {path: 'policy.yaml', content}}], [command('sleep 0')]);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('found a link into workspaces/'),
    );
    const [item] = await decideAll(home, 'through', 1, '-');
    expect(item?.command).toBe('sleep 0');
    expect((await resultsOf(house, 'through')).map(outcome)).toEqual(['ok', 'REJECTED']);
    rmSync(join(home, 'allowlist.yaml'));
    writeFileSync(join(home, 'allowlist.yaml'), policy);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !text.includes('allowlist.yaml'),
    );
  });

  it('has no workspace any more when the folder is another', async () => {
    const swap = 'cd .. && mv talker away && ln -s other talker';
    calling(house, 'swap', [command(swap), write('file.txt'), command('echo evil'), command('touch evil')]);
    await decideAll(home, 'swap', 1, 'x');
    const results = await resultsOf(house, 'swap');
    expect(results.map(outcome), JSON.stringify(results)).toEqual(['ok', 'DENIED', 'DENIED', 'DENIED']);
    rmSync(join(home, 'workspaces/talker'));
    renameSync(join(home, 'workspaces/away'), join(home, 'workspaces/talker'));
    calling(house, 'back', [create('back.txt')]);
    expect((await resultsOf(house, 'back')).map(outcome)).toEqual(['ok']);
  });

  it('puts a repository in place of its own, and nobody runs what that says', async () => {
    const canary = join(home, '../canary');
    const touch = `touch ${canary}`;
    const replace = [
      "rm .git; git init -q; echo '* filter=x' > .gitattributes",
      `printf '[core]\\n\\tfsmonitor = ${touch}\\n[filter "x"]\\n\\tclean = ${touch}\\n' > .git/config`,
      `printf '#!/bin/sh\\n${touch}\\n' > .git/hooks/post-index-change; chmod +x .git/hooks/*`,
    ].join('\n');
    calling(house, 'replace', [command(replace)], [command('git status'), create('after.txt')]);
    const [first] = await decideAll(home, 'replace', 1, 'x');
    const results = await resultsOf(house, 'replace');
    expect(first?.command).toBe(replace);
    expect(results.map(outcome), JSON.stringify(results)).toEqual(['ok', 'ok', 'ok']);
    expect(results[0]?.workspace_notes).toContainEqual(expect.stringContaining('moved to .git-found-1'));
    await lookAndUndo(home, 'after.txt');
    expect(existsSync(canary), 'something was run').toBe(false);
  });
});
