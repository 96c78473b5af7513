import {execFile} from 'node:child_process';
import {chmodSync, existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, it} from 'vitest';
import {verifySignature} from '../../src/effects/signature/ssh-signature.ts';
import {type ApprovalType, parseApproval} from '../../src/formats/approval/approval.ts';
import {signedText} from '../../src/formats/approval/approval-digest.ts';
import {newApproval, setReview} from '../../src/formats/approval/approval-edit.ts';
import {APPROVALS_FILE, newApprovalItem, readApprovalItems} from '../../src/formats/approval/approval-item.ts';
import type {UserError} from '../../src/formats/common/errors.ts';
import {fieldOf} from '../../src/formats/task/task.ts';
import {addTasks, type TaskChange, updateTasks} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {save} from '../../src/home/save.ts';
import {rejecting} from '../../src/surfaces/actions/decide/choose.ts';
import {decide} from '../../src/surfaces/actions/decide/decide.ts';
import {editable, takeBack} from '../../src/surfaces/actions/decide/edited.ts';
import {findRequests, type Request} from '../../src/surfaces/actions/decide/queue.ts';
import {approveCommand} from '../../src/surfaces/cli/approve.ts';
import {type ApproveOptions, approveRequests} from '../../src/surfaces/cli/approve-requests.ts';
import {terminal} from '../daemon/terminal.ts';
import {playDaemon} from './played-daemon.ts';
import {agentdir, environment, main, newHome, put, type Run, startAgentdir, until} from './run.ts';

interface Given {
  id: string;
  type?: ApprovalType;
  command?: string;
  content?: string;
  fields?: Record<string, string>;
  /** Minutes ago. */
  age?: number;
}

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const BEFORE = '# Approvals\n\nMy own words,  kept.\n';
const AFTER = '\n\n## Notes\n- not a request\t\n';

function itemOf({id, type = 'terminal_command', command, fields = {}, age = 1}: Given) {
  return newApprovalItem({
    id,
    title: `Approve ${type}: ${command ?? id}`,
    type,
    agent: 'executor-001',
    created: ago(age),
    risk: 'HIGH',
    factors: ['docker controls services'],
    ...(command === undefined ? {} : {command}),
    fields: {session: 'executor-001-abc', call: 'call_1', digest: `sha256:${id}`, ...fields},
  });
}

function pageOf({id, type = 'terminal_command', command, content}: Given): string {
  const parts = [
    ...(command === undefined ? [] : [{label: 'Command', text: command, language: 'bash'}]),
    ...(content === undefined ? [] : [{label: 'Content', text: content}]),
    {label: 'Diff', text: '@@ -1 +1 @@\n-old\n+new', language: 'diff'},
    {label: 'Options', text: '1. red\n2. blue'},
  ];
  const edits = command === undefined ? 'Content' : 'Command';
  return newApproval({
    id,
    meta: {agent: 'executor-001', status: 'pending', edits},
    type,
    parts,
    risk: 'HIGH',
    factors: [],
  });
}

/** A home with these requests in its queue, and their pages. */
async function asked(...given: Given[]): Promise<string> {
  const queue = addTasks(parseTasks(BEFORE), given.map(itemOf)).trimEnd() + AFTER;
  const pages = given.map(one => [page(one.id), pageOf(one)] as const);
  return newHome({[APPROVALS_FILE]: queue, ...Object.fromEntries(pages)});
}

const page = (id: string) => `approvals/pending/${id}.approval.md`;
const read = (home: string, path: string = APPROVALS_FILE) => readFileSync(join(home, path), 'utf8');
const items = (home: string) => readApprovalItems(parseTasks(read(home))).items;
const item = (home: string, id: string) => items(home).find(one => one.id === id);
const field = (home: string, id: string, key: string) => {
  const found = item(home, id);
  return found && fieldOf(found.task, key);
};
const json = (run: Run) => JSON.parse(run.stdout);

/** `agentdir approve` without options. */
const plain: Omit<ApproveOptions, 'home' | 'ids'> = {
  edit: false,
  always: false,
  sign: false,
  key: undefined,
  answer: undefined,
  json: false,
  wait: false,
  timeoutMs: undefined,
};

/** The session whose call asks. */
const session = (keys = '') => `agent_id: executor-001
status: waiting
messages:
  - role: assistant
    tool_calls:
      - {id: call_1, ${keys}type: function, function: {name: execute_command, arguments: '{"command":"ls"}'}}
`;

/** What the daemon would write. */
async function record(home: string, id: string, change: TaskChange): Promise<void> {
  const bytes = readFileSync(join(home, APPROVALS_FILE));
  const file = parseTasks(bytes.toString());
  const task = file.tasks.find(one => fieldOf(one, 'id') === id);
  if (!task) throw new Error(id);
  const text = updateTasks(file, [[task, change]]);
  const result = await save(nodeDisk(home), {path: APPROVALS_FILE, expected: bytes, bytes: Buffer.from(text)});
  if (!('saved' in result)) throw new Error('the queue changed');
}

/** A program that does this to the file it is given. */
function editor(home: string, script: string): NodeJS.ProcessEnv {
  const path = join(home, '..', 'editor.sh');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return {...environment, EDITOR: path};
}

describe('agentdir approvals', () => {
  it('lists what waits, oldest first, and nothing that is decided in either place', async () => {
    const home = await asked(
      {
        id: 'young-1',
        command: 'ls \u202e x',
        age: 5,
        fields: {taint: 'inbox/a.jsonl#1', where: 'host', expires: ago(-120)},
      },
      {id: 'old-2', command: 'docker ps', age: 90},
      {id: 'ticked-3', command: 'ls'},
      {id: 'on-page-4', command: 'ls'},
      {id: 'done-5', command: 'ls', fields: {status: 'approved', outcome: 'done: exit code 0'}},
    );
    await record(home, 'ticked-3', {box: 'x'});
    await record(home, 'done-5', {box: 'x', fields: {status: 'approved', approved_by: 'Ada', outcome: 'exit code 0'}});
    put(home, {[page('on-page-4')]: setReview(read(home, page('on-page-4')), {decision: 'REJECTED'})});
    const [list, rows, all] = await Promise.all([
      agentdir(home, ['approvals']),
      agentdir(home, ['approvals', '--json']),
      agentdir(home, ['approvals', '--all', '--json']),
    ]);
    expect([list.code, rows.code, all.code]).toEqual([3, 3, 3]);
    expect(list.stdout).toMatch(
      /old-2 +│ 1h +│ +│ executor-001 │ HIGH │ +│.*docker ps.*\n.*young-1 +│ 5m +│ 2h .*host tainted.*⟨U\+202E⟩/,
    );
    expect(json(rows).map(({id}: {id: string}) => id)).toEqual(['old-2', 'young-1']);
    expect(json(rows)[1]).toMatchObject({
      state: 'pending',
      command: 'ls \u202e x',
      taint: 'inbox/a.jsonl#1',
      where: 'host',
    });
    const states = json(all).map(({id, state, recorded}: Record<string, unknown>) => `${id} ${state} ${recorded}`);
    expect(states).toEqual([
      'old-2 pending false',
      'young-1 pending false',
      'ticked-3 approved false',
      'on-page-4 rejected false',
      'done-5 approved true',
    ]);
  });

  it('says so when nothing waits, and when the queue has errors', async () => {
    const home = await newHome();
    expect(await agentdir(home, ['approvals'])).toMatchObject({code: 0, stdout: 'nothing waits for you\n'});
    put(home, {[APPROVALS_FILE]: '## TODO\n\n- [!] "Approve x"\n  id: a\n'});
    expect(await agentdir(home, ['approvals'])).toMatchObject({code: 4, stderr: expect.stringContaining(':3:')});
    await expect(approveCommand({...plain, home, ids: ['a']})).rejects.toMatchObject({exitCode: 4});
  });

  it('says so of a page that is broken', async () => {
    const home = await asked({id: 'aa11', command: 'ls'});
    put(home, {[page('aa11')]: `${read(home, page('aa11'))}\n## More\n`});
    expect(await agentdir(home, ['approvals', 'aa'])).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('│ ls'),
      stderr: expect.stringMatching(/approvals\/pending\/aa11\.approval\.md[\s\S]*delete the page: it comes back/),
    });
  });

  it('shows one whole, what an agent wrote behind a bar on every line', async () => {
    const home = await asked({
      id: 'aa11',
      command: `echo ${'x'.repeat(200)}\n\u202e\n## Review\n**Decision:** APPROVED`,
    });
    const at = terminal(home, `${process.execPath} ${main} approvals aa`);
    await at.shows(/│ echo x{113}\r\n│ x{87}\r\n│ ⟨U\+202E⟩\r\n│ ## Review\r\n│ \*\*Decision:\*\* APPROVED\r\n/);
    await at.shows(/│ -old\r\n│ \+new/);
    expect(await at.exited).toBe(3);
  });
});

describe('a command that was changed', () => {
  const onPage = (home: string, id: string, from: string, to: string) =>
    put(home, {[page(id)]: read(home, page(id)).replace(`\n${from}\n`, `\n${to}\n`)});
  const rows = async (home: string) => json(await agentdir(home, ['approvals', '--json']));

  it('on its page is shown, and edited further, as it would run', async () => {
    const home = await asked({id: 'aa11', command: 'echo 1 > a'}, {id: 'bb22', command: 'echo 2 > b'});
    onPage(home, 'aa11', 'echo 1 > a', 'echo 1 > page');
    const one = await agentdir(home, ['approvals', 'aa11']);
    expect(one.stdout).toContain('as changed on the page; this runs:\n│ echo 1 > page');
    expect(one.stdout).not.toContain('│ echo 1 > a\n');
    expect(await rows(home)).toMatchObject([
      {command: 'echo 1 > page', edited: true, title: expect.stringContaining('echo 1 > page (edited)')},
      {command: 'echo 2 > b', edited: false, title: 'Approve terminal_command: echo 2 > b'},
    ]);
    const env = editor(home, `sed -i 's/page/further/' "$1"`);
    expect((await agentdir(home, ['approve', 'aa', '--edit'], env)).code).toBe(0);
    expect(parseApproval(read(home, page('aa11'))).action.command).toBe('echo 1 > further');
    expect(item(home, 'aa11')).toMatchObject({decision: 'approved', command: 'echo 1 > a'});
  });

  it('in both places alike is edited in both', async () => {
    const home = await asked({id: 'aa11', command: 'ls a'});
    onPage(home, 'aa11', 'ls a', 'ls b');
    await record(home, 'aa11', {fields: {command: 'ls b'}});
    expect(await rows(home)).toMatchObject([{command: 'ls b', edited: true}]);
    const env = editor(home, `sed -i 's/b/c/' "$1"`);
    expect((await agentdir(home, ['approve', 'aa', '--edit'], env)).code).toBe(0);
    expect(parseApproval(read(home, page('aa11'))).action.command).toBe('ls c');
    expect(item(home, 'aa11')).toMatchObject({decision: 'approved', command: 'ls c'});
  });

  it('in both places differently is shown so, and a yes is refused', async () => {
    const home = await asked({id: 'aa11', command: 'ls a'});
    onPage(home, 'aa11', 'ls a', 'ls b');
    await record(home, 'aa11', {fields: {command: 'ls c'}});
    const one = await agentdir(home, ['approvals', 'aa11']);
    expect(one.stdout).toMatch(/In the queue:\n│ ls c\nOn the page:\n│ ls b\nNothing runs/);
    expect(one.stdout).not.toContain('this runs');
    expect(await rows(home)).toMatchObject([
      {command: 'ls c', title: expect.stringContaining('differently on its page')},
    ]);
    for (const more of [[], ['--edit']])
      expect(await agentdir(home, ['approve', 'aa', ...more], editor(home, 'true'))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('on its page, differently; nothing was written'),
      });
    expect((await agentdir(home, ['reject', 'aa'])).code).toBe(0);
  });
});

describe('agentdir approve and reject', () => {
  it('write the lines of those items and no others', async () => {
    const home = await asked({id: 'aa11', command: 'ls'}, {id: 'bb22', command: 'ls'}, {id: 'cc33', command: 'ls'});
    const before = read(home);
    const yes = await agentdir(home, ['approve', 'aa', 'bb2', '--always', '--json']);
    expect(yes.code).toBe(0);
    const {approvals, daemon} = json(yes);
    expect(daemon).toBe(false);
    expect(approvals).toMatchObject([
      {id: 'aa11', state: 'approved', by: 'Ada <ada@example.org>'},
      {id: 'bb22', state: 'approved'},
    ]);
    const no = await agentdir(home, ['reject', 'cc33', '--reason', 'not: "today"']);
    expect(no).toMatchObject({code: 0, stdout: 'rejected cc33: executor-001 is informed at the next agentdir start\n'});
    const at = (id: string) => item(home, id)?.at;
    const added = (id: string) =>
      id === 'cc33'
        ? `\n  rejected_by: Ada <ada@example.org>\n  rejected_at: ${at(id)}\n  rejection_reason: not: "today"`
        : `\n  always: true\n  approved_by: Ada <ada@example.org>\n  approved_at: ${at(id)}`;
    const [start = '', ...parts] = before.split('- [_]');
    const expected = parts.map((part, i) => {
      const end = part.lastIndexOf('why).') + 5;
      return `- [${i === 2 ? '-' : 'x'}]${part.slice(0, end)}${added(['aa11', 'bb22', 'cc33'][i] ?? '')}${part.slice(end)}`;
    });
    expect(read(home)).toBe(start + expected.join(''));
    expect(Date.parse(at('aa11') ?? '')).toBeGreaterThan(Date.now() - 60_000);
  });

  it('write nothing where an id is unknown, decided, expired, or decided on its page', async () => {
    const home = await asked(
      {id: 'aa11', command: 'ls'},
      {id: 'ab12', command: 'ls'},
      {id: 'cc33', command: 'ls'},
      {id: 'dd44', command: 'ls', fields: {expires: ago(1)}},
      {id: 'ee55', command: 'ls'},
      {id: 'qq66', type: 'question'},
    );
    await record(home, 'cc33', {box: '-', fields: {status: 'rejected', rejected_by: 'Bob', rejected_at: ago(3)}});
    put(home, {[page('ee55')]: setReview(read(home, page('ee55')), {decision: 'APPROVED'})});
    const before = read(home);
    const tries: [Pick<ApproveOptions, 'ids'> & Partial<ApproveOptions>, number, RegExp][] = [
      [{ids: ['aa11', 'ab21']}, 2, /no approval "ab21"/],
      [{ids: ['a']}, 2, /is ambiguous: .*aa11, .*ab12/],
      [{ids: ['aa11', 'cc33']}, 1, /cc33 is rejected already, by Bob, 20/],
      [{ids: ['dd44']}, 1, /dd44 has expired/],
      [{ids: ['ee55']}, 1, /ee55 is approved in approvals\/pending/],
      [{ids: []}, 2, /which one/],
      [{ids: ['aa11'], answer: 'x'}, 2, /--answer is for one question/],
      [{ids: ['qq66']}, 2, /qq66 is a question/],
    ];
    for (const [options, exitCode, message] of tries)
      await expect(approveCommand({...plain, home, ...options}), JSON.stringify(options)).rejects.toMatchObject({
        exitCode,
        message: expect.stringMatching(message),
      });
    expect(await agentdir(home, ['approve', 'ab21'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean ab12?'),
    });
    expect(read(home)).toBe(before);
  });

  it('a yes to what has not run yet can be taken back: reject wins', async () => {
    const home = await asked({id: 'aa11', command: 'ls'});
    const before = read(home);
    await agentdir(home, ['approve', 'aa', '--always']);
    expect((await agentdir(home, ['reject', 'aa'])).code).toBe(0);
    expect(item(home, 'aa11')).toMatchObject({decision: 'rejected', always: false});
    expect(read(home)).not.toContain('approved_by:');
    expect(
      read(home)
        .replace('[-]', '[_]')
        .replace(/\n {2}rejected_\w+:.*/g, ''),
    ).toBe(before);
    await expect(approveCommand({...plain, home, ids: ['aa']})).rejects.toMatchObject({exitCode: 1});
    const no = () => decide(home, [rejecting(home, findRequests(home, ['aa'])[0] as Request, 'Bob', undefined)]);
    await record(home, 'aa11', {box: 'x', fields: {status: 'approved', approved_by: 'Ada'}});
    expect(await no()).toMatchObject([{decision: 'rejected', by: 'Bob', status: 'approved'}]);
    await record(home, 'aa11', {box: 'x', fields: {executed_at: ago(0)}});
    await expect(no()).rejects.toThrow('aa11 is approved already, by Ada');
  });

  it('a no is written whatever the page says: it wins', async () => {
    const home = await asked({id: 'aa11', command: 'ls'}, {id: 'bb22', command: 'ls'}, {id: 'cc33', command: 'ls'});
    const say = (id: string, decision: string) =>
      put(home, {[page(id)]: read(home, page(id)).replace(/^\*\*Decision:.*$/m, `**Decision:** ${decision}`)});
    say('aa11', 'APPROVED');
    say('bb22', 'yes');
    say('cc33', 'REJECTED');
    expect(await agentdir(home, ['approve', 'bb22'])).toMatchObject({code: 4});
    expect(await agentdir(home, ['reject', 'aa11', 'bb22', '--reason', 'no'])).toMatchObject({code: 0, stderr: ''});
    expect(items(home).map(({decision}) => decision)).toEqual(['rejected', 'rejected', undefined]);
    expect(await agentdir(home, ['reject', 'cc33'])).toMatchObject({code: 1});
  });

  it('what has started is not rejected any more: a no would not stop it', async () => {
    const home = await asked({id: 'aa11', command: 'ls'});
    put(home, {
      'sessions/executor-001-abc.session.yaml': session("approval: aa11, started: '2026-01-02T03:04:05.000Z', "),
    });
    await record(home, 'aa11', {box: 'x', fields: {status: 'approved', approved_by: 'Ada'}});
    const before = read(home);
    expect(await agentdir(home, ['reject', 'aa'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /has started .*nothing was written[\s\S]*status: paused in sessions\/executor-001-abc\.session\.yaml/,
      ),
    });
    expect(read(home)).toBe(before);
  });

  it('what ran is shown as a person changed it', async () => {
    const home = await asked({id: 'aa11'});
    const queue = read(home).replace(`Approve terminal_command: aa11`, 'Approve command on the host: touch asked');
    put(home, {[APPROVALS_FILE]: queue});
    const fields = {status: 'approved', edited: 'true', command: 'touch made', outcome: 'done', executed_at: ago(0)};
    await record(home, 'aa11', {box: 'x', fields});
    const all = await agentdir(home, ['approvals', '--all', '--json']);
    expect(json(all)[0]).toMatchObject({title: 'Approve command on the host: touch made (edited)', edited: true});
    expect((await agentdir(home, ['show', 'aa11'])).stdout).toMatch(/^changed by a person; what runs: touch made\n/);
  });

  it('a question gets an answer, a limit a tick, credentials in words are replaced', async () => {
    const home = await asked(
      {id: 'qq11', type: 'question'},
      {id: 'limit-1', type: 'budget'},
      {id: 'cc', command: 'ls'},
    );
    expect((await agentdir(home, ['approve', 'qq', '--answer', 'the "blue" one\nor red'])).stdout).toContain(
      'executor-001 reads the answer',
    );
    expect(field(home, 'qq11', 'answer')).toBe('the "blue" one\nor red');
    const [limit, no] = await Promise.all([
      agentdir(home, ['approve', 'limit']),
      agentdir(home, ['reject', 'cc', '--reason', `it has ghp_${'a1B2'.repeat(9)} in it`]),
    ]);
    expect(limit.stdout).toContain('the waiting agents continue');
    expect(no.stderr).toContain('redacted');
    expect(read(home)).not.toContain('ghp_a1B2');
    expect(items(home).map(({decision}) => decision)).toEqual(['approved', 'approved', 'rejected']);
  });

  it('a number is that of an option, unless it is one', async () => {
    const home = await asked({id: 'q1', type: 'question'}, {id: 'q2', type: 'question'}, {id: 'q3', type: 'question'});
    put(home, {[page('q3')]: read(home, page('q3')).replace('1. red', '1. 2')});
    for (const [id, answer] of [
      ['q1', '2'],
      ['q2', '3'],
      ['q3', '2'],
    ] as const)
      await approveCommand({...plain, home, ids: [id], answer});
    expect(['q1', 'q2', 'q3'].map(id => field(home, id, 'answer'))).toEqual(['blue', '3', '2']);
  });

  it('says what a yes lacks that was written and not taken in', async () => {
    const home = await asked({id: 'qq11', type: 'question'}, {id: 'aa11', command: 'ls'});
    for (const id of ['qq11', 'aa11']) await record(home, id, {box: 'x'});
    const hint = (id: string) =>
      approveCommand({...plain, home, ids: [id]}).then(
        () => '',
        (error: UserError) => error.hint,
      );
    expect(await hint('qq11')).toContain('approve qq11 --answer');
    expect(await hint('aa11')).toContain('agentdir status');
    put(home, {'agentdir.yaml': 'version: 1\napprovals: {signers: signers}\n'});
    expect(await hint('aa11')).toContain('approve aa11 --sign');
  });

  it('from 8 processes at once, while the daemon adds to the queue: nothing is lost', async () => {
    const given = Array.from({length: 8}, (_, i) => ({id: `id${i}`, command: 'ls'}));
    const home = await asked(...given);
    const running = given.map(({id}, i) => startAgentdir(home, i % 2 ? ['reject', id] : ['approve', id]));
    let added = 0;
    for (let tries = 0; tries < 200 && added < 20; tries++) {
      const bytes = readFileSync(join(home, APPROVALS_FILE));
      const text = addTasks(parseTasks(bytes.toString()), [itemOf({id: `new${added}`, command: 'ls'})]);
      if ('saved' in (await save(nodeDisk(home), {path: APPROVALS_FILE, expected: bytes, bytes: Buffer.from(text)})))
        added++;
    }
    const ended = await Promise.all(running.map(one => one.ended));
    expect(ended.map(({code}) => code)).toEqual(given.map(() => 0));
    expect(added).toBe(20);
    expect(items(home).map(({id, decision}) => `${id} ${decision}`)).toEqual([
      ...given.map(({id}, i) => `${id} ${i % 2 ? 'rejected' : 'approved'}`),
      ...Array.from({length: 20}, (_, i) => `new${i} undefined`),
    ]);
  });

  it('--wait tells what came of it', async () => {
    const home = await asked({id: 'aa11', command: 'ls'}, {id: 'bb22', command: 'ls'});
    playDaemon(home);
    const both = ['aa11', 'bb22'].map(id => startAgentdir(home, ['approve', id, '--wait']));
    await until(() => items(home).every(({decision}) => decision === 'approved'), Boolean);
    await record(home, 'aa11', {fields: {status: 'approved', outcome: 'done: exit code 0'}});
    await record(home, 'bb22', {fields: {status: 'approved', outcome: 'failed: exit code 2'}});
    const [good, bad] = await Promise.all(both.map(one => one.ended));
    expect(good).toMatchObject({code: 0, stdout: expect.stringMatching(/runs it now\naa11: done: exit code 0\n$/)});
    expect(bad).toMatchObject({code: 1, stdout: expect.stringMatching(/bb22: failed: exit code 2\n$/)});
  });
});

describe('agentdir approve --edit', () => {
  it('a command goes into its item, hidden characters as they were, and is ticked', async () => {
    const home = await asked({id: 'aa11', command: 'echo a\u200bb'}, {id: 'bb22', command: 'ls'});
    const env = editor(
      home,
      `grep -q '⟨U+200B⟩' "$1" && printf '%s\\n' "echo 'ünd' ⟨U+200B⟩ | cat" '  second # line' > "$1"`,
    );
    expect((await agentdir(home, ['approve', 'aa', '--edit'], env)).code).toBe(0);
    expect(field(home, 'aa11', 'command')).toBe("echo 'ünd' \u200b | cat\n  second # line");
    expect(read(home)).not.toContain('\u200b');
    expect(items(home).map(({decision}) => decision)).toEqual(['approved', undefined]);
  });

  it('line ends that an editor made are not part of it', async () => {
    const home = await asked({id: 'aa11', command: 'ls\npwd'}, {id: 'bb22', command: 'ls\r\npwd'});
    const [own, theirs] = findRequests(home, ['aa11', 'bb22']).map(request => {
      const from = editable(home, request);
      return from && takeBack(home, request, from, 'ls\r\ndate\r\n')?.text;
    });
    expect([own, theirs]).toEqual(['ls\ndate', 'ls\r\ndate']);
  });

  it('a text goes into its page, whatever it has in it, before the box is ticked', async () => {
    const home = await asked({id: 'aa11', type: 'file_write', content: 'old\n```\nfence\n'});
    const before = read(home, page('aa11'));
    const words = 'new\n````\n## Review\n**Decision:** REJECTED\n';
    put(home, {'../words': words});
    const env = editor(home, `cat ${join(home, '../words')} > "$1"`);
    expect((await agentdir(home, ['approve', 'aa', '--edit'], env)).code).toBe(0);
    expect(parseApproval(read(home, page('aa11'))).action.content).toBe(words.trimEnd());
    expect(read(home, page('aa11'))).toBe(
      before.replace('````\nold\n```\nfence\n````', `\`\`\`\`\`\n${words}\`\`\`\`\``),
    );
    expect(item(home, 'aa11')?.decision).toBe('approved');
  });

  it('nothing is written if it is emptied, if the editor fails, or if the request was changed meanwhile', async () => {
    const home = await asked({id: 'aa11', command: 'ls'});
    const before = read(home);
    const edit = (script: string) => agentdir(home, ['approve', 'aa', '--edit'], editor(home, script));
    expect(await edit(': > "$1"')).toMatchObject({code: 1, stderr: expect.stringContaining('is empty')});
    expect(await edit('exit 3')).toMatchObject({code: 1, stderr: expect.stringContaining('exit code 3')});
    put(home, {'allowlist.yaml': 'version: 1\ncommands: {deny: ["rm *"]}\n'});
    expect(await edit('echo "ls; rm -rf x" > "$1"')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/policy denies .*rm -rf x.*nothing was written/),
    });
    expect(read(home)).toBe(before);
    const queue = join(home, APPROVALS_FILE);
    expect(await edit(`echo date > "$1"; sed -i 's/command: ls/command: rm x/' ${queue}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('was changed while you decided'),
    });
    expect(item(home, 'aa11')).toMatchObject({decision: undefined});
  });
});

describe('agentdir approve --sign', () => {
  it('whoever says yes where signatures are required signs, or nothing is written', async () => {
    const home = await asked({id: 'aa11', command: 'ls'});
    put(home, {'agentdir.yaml': 'format: 1\napprovals: {signers: signers}\n'});
    const before = read(home);
    await expect(approveRequests({...plain, home, ids: []}, findRequests(home, ['aa11']))).rejects.toThrow(
      'approvals must be signed; nothing was written',
    );
    expect(read(home)).toBe(before);
  });

  it('a signature that would not count is not written', async () => {
    const home = await asked({id: 'aa11', command: 'ls'});
    put(home, {'agentdir.yaml': 'format: 1\napprovals: {signers: signers}\n', '../keys/readme': ''});
    const keys = ['ada', 'eve'].map(name => join(home, '../keys', name));
    for (const key of keys) await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const before = read(home);
    const sign = (key = '') => agentdir(home, ['approve', 'aa11', '--sign', '--key', key]);
    expect(await sign(keys[0])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/signers, is not there\); nothing/),
    });
    put(home, {signers: `ada@example.org ${readFileSync(`${keys[0]}.pub`, 'utf8')}`});
    expect(await sign(keys[1])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the signature would not count .*among the signers\); nothing was written/),
    });
    expect(read(home)).toBe(before);
    expect(await sign(keys[0])).toMatchObject({code: 0, stderr: ''});
  });

  it('more of a limit runs nothing and needs no signature', async () => {
    const given = ['limit-1', 'limit-2'].map(id => ({id, type: 'budget' as const, fields: {digest: ''}}));
    const home = await asked(...given);
    put(home, {'agentdir.yaml': 'format: 1\napprovals: {signers: signers}\n'});
    expect(await agentdir(home, ['approve', 'limit-1'])).toMatchObject({code: 0, stderr: ''});
    expect(await agentdir(home, ['approve', 'limit-2', '--sign'])).toMatchObject({code: 0, stderr: ''});
    expect(items(home).map(({decision, signature}) => [decision, signature])).toEqual([
      ['approved', undefined],
      ['approved', undefined],
    ]);
  });

  it('signs what was decided, as edited, by the key given or the only one', async () => {
    const home = await asked(
      {id: 'aa11', command: 'ls'},
      {id: 'bb22', command: 'ls 2'},
      {id: 'cc33', type: 'file_write', content: 'old'},
      {id: 'dd44', command: 'ls'},
    );
    put(home, {
      'sessions/executor-001-abc.session.yaml': session(),
      'agentdir.yaml': 'format: 1\napprovals: {signers: signers}\n',
      '../.ssh/readme': '',
    });
    const key = join(home, '../.ssh/id');
    await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    put(home, {signers: `ada@example.org ${readFileSync(`${key}.pub`, 'utf8')}`});
    const env = {...editor(home, `printf 'new\n\n' > "$1"`), HOME: join(home, '..')};
    const [plain, signed, edited] = await Promise.all([
      agentdir(home, ['approve', 'dd44'], env),
      agentdir(home, ['approve', 'aa11', 'bb22', '--sign'], env),
      agentdir(home, ['approve', 'cc33', '--edit', '--key', key], env),
    ]);
    expect([plain, signed, edited]).toMatchObject([
      {code: 2, stderr: expect.stringContaining('nothing was written')},
      {code: 0, stderr: ''},
      {code: 0, stderr: ''},
    ]);
    // The session tells that of the first two the second is not what was asked for.
    const expected = {aa11: undefined, bb22: 'ls 2', cc33: 'new\n'};
    expect(parseApproval(read(home, page('cc33'))).action.content).toBe(expected.cc33);
    for (const [id, edited] of Object.entries(expected)) {
      const text = signedText({id, digest: `sha256:${id}`, decision: 'approved', edited});
      const signature = field(home, id, 'signature') ?? '';
      expect(await verifySignature(text, signature, join(home, 'signers')), id).toEqual({by: 'ada@example.org'});
    }
  });
});

describe('agentdir approve without an id, on a terminal', () => {
  const CHOICE = /\[a\]pprove, \[r\]eject, \[e\]dit, \[s\]kip, \[A\]lways, \[q\]uit: /;

  it('shows one after the other, new ones too, and takes keys, words and lines', async () => {
    const home = await asked(
      {id: 'one', command: 'ls 1', age: 9},
      {id: 'two', command: 'ls 2', age: 8},
      {id: 'three', type: 'question', age: 7},
      {id: 'four', command: 'ls 4', age: 6},
      {id: 'five', command: 'ls 5', age: 5},
    );
    const at = terminal(home, `env EDITOR='sed -i s/5/55/' ${process.execPath} ${main} approve`);
    await at.shows(/one [\s\S]*4 more after this/);
    await at.shows(CHOICE);
    at.type('x');
    await at.shows(/"x" is not one of these/);
    await at.shows(CHOICE);
    at.type('a');
    await at.shows(/approved one/);
    await at.shows(CHOICE);
    at.type('reject\r');
    await at.shows(/reason .*: /);
    at.type('too late\r');
    await at.shows(/rejected two/);
    await at.shows(/\[a\]nswer.*: /);
    at.type('a');
    await at.shows(/2 {2}blue\r\nanswer \(a number, or words\): /);
    at.type('2\r');
    await at.shows(/approved three/);
    await at.shows(CHOICE);
    const bytes = readFileSync(join(home, APPROVALS_FILE));
    const text = addTasks(parseTasks(bytes.toString()), [itemOf({id: 'six', command: 'ls 6', age: 0})]);
    await save(nodeDisk(home), {path: APPROVALS_FILE, expected: bytes, bytes: Buffer.from(text)});
    at.type('A');
    await at.shows(/approved four/);
    await at.shows(CHOICE);
    at.type('e');
    await at.shows(/approved five/);
    await at.shows(/six /);
    await at.shows(/\[s\]kip.*: /);
    at.type('s');
    await at.shows(/1 request skipped/);
    expect(await at.exited).toBe(3);
    const state = items(home).map(({id, decision, always}) => `${id} ${decision} ${always}`);
    expect(state).toEqual([
      'one approved false',
      'two rejected false',
      'three approved false',
      'four approved true',
      'five approved false',
      'six undefined false',
    ]);
    expect(item(home, 'two')?.reason).toBe('too late');
    expect(field(home, 'three', 'answer')).toBe('blue');
    expect(field(home, 'five', 'command')).toBe('ls 55');
  });

  it('Ctrl-C at once: exit code 3 while something waits, as the help says', async () => {
    const home = await asked({id: 'one', command: 'ls', age: 9});
    const at = terminal(home, `${process.execPath} ${main} approve`);
    await at.shows(CHOICE);
    at.type('\u0003');
    await at.shows(/1 request skipped/);
    expect(await at.exited).toBe(3);
    const late = terminal(home, `${process.execPath} ${main} approve`);
    await late.shows(CHOICE);
    expect((await agentdir(home, ['approve', 'one'])).code).toBe(0);
    late.type('q');
    await late.shows(/nothing waits for you/);
    expect(await late.exited).toBe(0);
    expect((await agentdir(home, ['approve', '--help'])).stdout).toMatch(/3 you quit or skipped/);
  });

  it('Ctrl-C when asked why, or for an answer, decides nothing', async () => {
    const home = await asked({id: 'one', command: 'ls', age: 9}, {id: 'two', type: 'question'});
    for (const [line, prompt] of [
      ['reject one', /reason .*: /],
      ['approve two', /answer \(a number, or words\): /],
    ] as const) {
      const at = terminal(home, `${process.execPath} ${main} ${line}`);
      await at.shows(prompt);
      at.type('\u0003');
      await at.shows(/nothing was written/);
      expect([line, await at.exited]).toEqual([line, 3]);
    }
    expect(items(home).map(({decision}) => decision)).toEqual([undefined, undefined]);
  });

  it('Ctrl-C leaves decided what was, and nothing else', async () => {
    const home = await asked({id: 'one', command: 'ls', age: 9}, {id: 'two', command: 'ls'});
    const at = terminal(home, `${process.execPath} ${main} approve`);
    await at.shows(CHOICE);
    at.type('a');
    await at.shows(/approved one/);
    await at.shows(CHOICE);
    at.type('r');
    await at.shows(/reason/);
    at.type('\u0003');
    expect(await at.exited).toBe(3);
    expect(items(home).map(({decision}) => decision)).toEqual(['approved', undefined]);
    expect(existsSync(join(home, 'conflicts'))).toBe(false);
  });
});
