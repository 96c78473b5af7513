import {execFileSync} from 'node:child_process';
import {appendFileSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {askedBy, decideOnPage, field, pagesIn, whenItem} from '../daemon/deciding.ts';
import {openHouse} from '../daemon/house.ts';
import {read} from '../daemon/serve.ts';
import {atRest, begin, whenIt} from '../daemon/talk.ts';
import {agentdir, environment, git, put, until} from './run.ts';

const house = openHouse(() => ({
  'templates/talker.agent.yaml':
    'id: talker\ntype: talker\nsystem_prompt: You ask.\ncapabilities: [execute_command, write_file, edit_file, ask_human]\n',
  'allowlist.yaml': 'version: 1\ncommands:\n  allow: ["echo *"]\n',
}));
const run = (...args: string[]) => agentdir(house.home, args, {...environment, EDITOR: join(house.home, '../editor')});
const workspace = (path: string) => readFileSync(join(house.home, 'workspaces/talker', path), 'utf8');

interface Asked {
  name: string;
  arguments: Record<string, unknown>;
}
const command = (line: string): Asked => ({name: 'execute_command', arguments: {command: line}});

/** A session whose model makes these calls, then ends; the ids of the requests. */
async function asking(session: string, ...calls: Asked[]): Promise<string[]> {
  house.stage.parts.set(session, (_, nth) =>
    nth > 0 ? {text: 'done'} : {calls: calls.map((call, i) => ({id: `call${i}`, ...call}))},
  );
  begin(house.home, session, `${session} please`);
  return Promise.all(calls.map(async (_, i) => (await askedBy(house.home, session, i)).id ?? ''));
}

/** Where there is no sandbox it runs on the host, and says so. */
const ASKED = /Approve command(?: on the host)?: touch sent/;

describe('deciding from the shell, beside a daemon', () => {
  it('whoever sends and waits is told what to decide', async () => {
    house.stage.parts.set('send', (_, nth) => (nth > 0 ? {text: 'made'} : {calls: [command('touch sent')]}));
    const {code, stdout} = await run('send', 'send it', '--to', 'talker', '--wait', '--json');
    const told = JSON.parse(stdout) as {session: string; status: string; approvals: {id: string}[]};
    expect({code, told}).toMatchObject({
      code: 3,
      told: {
        answer: null,
        status: 'waiting',
        approvals: [{title: expect.stringMatching(ASKED), risk: expect.stringMatching(/^(?:MEDIUM|HIGH)$/)}],
      },
    });
    const id = told.approvals[0]?.id ?? '';
    const [again, list, peek, status] = await Promise.all([
      run('send', 'more', '--session', told.session),
      run('list'),
      run('peek', '--session', told.session),
      until(
        () => run('status'),
        ({stdout: text}) => text.includes('1 approval waits for you: agentdir approvals'),
      ),
    ]);
    expect(again.stderr).toMatch(new RegExp(`${id} \\(risk (?:MEDIUM|HIGH)\\): ${ASKED.source}`, 'm'));
    expect(again.stderr).toContain(`decide: agentdir approve ${id}, or agentdir reject ${id}`);
    expect(list.stdout).toContain('1 session waits for your decision');
    expect(peek.stdout).toContain(`waiting for your approval: agentdir approvals ${id}`);
    expect(status.code).toBe(0);
    expect(await run('approve', id, '--wait')).toMatchObject({code: 0, stdout: expect.stringContaining('exit code 0')});
    const log = await until(
      () => run('log', told.session),
      ({stdout: text}) => text.includes('result of'),
    );
    for (const words of ['asks about', `approved ${id} by hand`, 'started', 'result of'])
      expect(log.stdout).toContain(words);
    expect(await run('approve', id)).toMatchObject({code: 1, stderr: expect.stringContaining('(done, exit code 0)')});
  });

  it('edited, for good, with an answer and several at once', async () => {
    writeFileSync(join(house.home, '../editor'), `#!/bin/sh\nsed -i 's/asked/edited/' "$1"\n`, {mode: 0o755});
    const [first = '', second = ''] = await asking('edit', command('touch asked'), {
      name: 'write_file',
      arguments: {path: 'note.txt', content: 'as asked\n'},
    });
    const [question = ''] = await asking('ask', {name: 'ask_human', arguments: {question: 'Which?'}});
    const [always = '', other = ''] = await asking('several', command('mkdir a'), command('mkdir b'));
    expect(await run('approve', first, second, '--edit', '--wait')).toMatchObject({code: 0, stderr: ''});
    expect(workspace('edited')).toBe('');
    expect(workspace('note.txt')).toBe('as edited\n');
    expect(await run('approve', question, '--answer', 'blue', '--wait')).toMatchObject({code: 0});
    const both = await run('approve', always, other, '--always', '--wait');
    expect(both).toMatchObject({code: 0, stdout: expect.stringContaining('always: mkdir a')});
    expect(read(house.home, 'allowlist.yaml')).toMatch(new RegExp(`# approval ${always}.*\\n.*mkdir a`));
    await whenIt(house.home, 'edit', atRest);
    await whenIt(house.home, 'ask', atRest);
    const shown = (await run('show', 'edit')).stdout;
    expect(shown).toContain(`touch asked"} approved (${first})\n    changed by a person to:\n      touch edited\n`);
    expect((await run('show', 'ask')).stdout).toMatch(
      new RegExp(`answered \\(${question}\\)[\\s\\S]*ask_human.*\\n  blue\\n`),
    );
    expect((await run('show', second)).stdout).toMatch(/approvals\/approved\/[\s\S]*outcome: done/);
  });

  it('rejected, on a page, and about something that has changed', async () => {
    put(house.home, {'workspaces/talker/old.txt': 'one\n'});
    const [no = '', paged = ''] = await asking('no', command('touch no'), command('touch paged'));
    expect(await run('reject', no, '--reason', 'not today', '--wait')).toMatchObject({code: 0});
    decideOnPage(house.home, paged, {decision: 'APPROVED'});
    await whenItem(house.home, paged, item => item.outcome !== undefined);
    await whenIt(house.home, 'no', atRest);
    expect((await run('show', 'no')).stdout).toMatch(new RegExp(`rejected \\(${no}\\)[\\s\\S]*REJECTED: .*not today`));
    const [changed = ''] = await asking('changed', {
      name: 'edit_file',
      arguments: {path: 'old.txt', old: 'one', new: 'two'},
    });
    appendFileSync(join(house.home, 'workspaces/talker/old.txt'), 'more\n');
    const told = await run('approve', changed, '--wait');
    // The daemon may have seen it first.
    const [, again = ''] = /asked again as (\w+)/.exec(told.stdout + told.stderr) ?? [];
    expect(told.code).toBe(1);
    expect((await run('approve', changed)).stderr).toContain(`asked again as ${again}`);
    expect(await run('reject', again, '--reason', 'no', '--wait')).toMatchObject({code: 0});
    // Each decision is the person's own, in words; the daemon's moves are its own.
    await until(
      () => pagesIn(house.home, 'pending'),
      pages => pages.length === 0,
    );
    const log = await until(
      () => git(house.home, 'log', '--author=Ada', '--format=%s'),
      text => text.includes(`approvals): rejected ${again} by hand`),
    );
    expect(log).toContain(`tasks(approvals): rejected ${no} by hand`);
    expect(log).toContain(`approval(${paged}): approved by hand`);
    expect(log).not.toMatch(/approval\(.*(?:created|removed) by hand/);
    const decided = house.daemon.events.filter(({event, id}) => event === 'decided' && id === changed);
    expect(decided.at(-1)?.state).toBe('superseded');
  });

  it('signed, where that is required; a yes without a signature can be signed later', async () => {
    const key = join(house.home, '../key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    put(house.home, {'../signers': `ada@example.org ${readFileSync(`${key}.pub`, 'utf8')}`});
    expect((await run('doctor')).stdout).not.toContain('signers');
    const settings = read(house.home, 'agentdir.yaml');
    // Without the limit on cost: a model without a price would be a problem.
    const changed = settings
      .replace(/^approvals:.*$/m, 'approvals: {signers: ../signers}')
      .replace('cost_usd: 20, ', '');
    put(house.home, {'agentdir.yaml': changed});
    await until(
      () => git(house.home, 'log', '-8', '--format=%s'),
      log => log.includes('settings('),
    );
    const [id = ''] = await asking('sign', command('touch signed'));
    expect((await run('doctor')).stdout).toMatch(/signers +approvals must be signed/);
    expect(await run('approve', id)).toMatchObject({code: 2, stderr: expect.stringContaining('nothing was written')});
    decideOnPage(house.home, id, {decision: 'APPROVED'});
    await until(
      () => run('status'),
      ({stdout}) => stdout.includes(`approval ${id}: it is not signed`),
    );
    const signed = await run('approve', id, '--key', key, '--wait');
    expect(signed).toMatchObject({code: 0, stderr: ''});
    expect(field(await whenItem(house.home, id, item => item.outcome !== undefined), 'signature')).toMatch(/^U1NIU0lH/);
    // What was asked is not edited for how its last line ends.
    const [lines = '', text = ''] = await asking('lines', command('cat > here <<E\nx\nE\n'), {
      name: 'write_file',
      arguments: {path: 'ends.txt', content: 'a\n\n'},
    });
    expect(await run('approve', lines, text, '--key', key, '--wait')).toMatchObject({code: 0, stderr: ''});
    expect([workspace('here'), workspace('ends.txt')]).toEqual(['x\n', 'a\n\n']);
    expect((await run('check')).stdout).toContain('no problems');
  });
});
