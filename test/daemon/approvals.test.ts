import {existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {agentdir, git, put, temporary, until} from '../cli/run.ts';
import {askedBy, decideInQueue, decideOnPage, field, itemsOf, pageOf, pagePath, pagesIn, whenItem} from './deciding.ts';
import {openHouse} from './house.ts';
import {clean, read, serve} from './serve.ts';
import {atRest, begin, pathOf, sessionOf, whenIt} from './talk.ts';

const AGENT = `id: talker
type: talker
system_prompt: You ask.
capabilities: [execute_command, read_file, write_file, create_file, edit_file, ask_human, remember]
`;
const POLICY = `version: 1
commands:
  allow: ["echo *", "cat *"]
  deny: ["rm -rf *"]
`;

const house = openHouse(() => ({'templates/talker.agent.yaml': AGENT, 'allowlist.yaml': POLICY}));
const inWorkspace = (path: string) => join(house.home, 'workspaces/talker', path);

interface Result {
  success: boolean;
  code?: string;
  error?: string;
  [key: string]: unknown;
}

let count = 0;

/** A session whose model makes these calls at once, then ends. */
function calling(...calls: {name: string; arguments: Record<string, unknown>}[]): string {
  const id = `ask${++count}`;
  house.stage.parts.set(id, (_, nth) =>
    nth > 0 ? {text: 'done'} : {calls: calls.map((call, i) => ({id: `call${i}`, ...call}))},
  );
  begin(house.home, id, `${id} please`);
  return id;
}

const command = (text: string, more: Record<string, unknown> = {}) => ({
  name: 'execute_command',
  arguments: {command: text, ...more},
});

/** What the model was told of its calls, when the session is done. */
async function resultsOf(id: string): Promise<Result[]> {
  const {messages} = await whenIt(house.home, id, atRest);
  return messages.filter(({role}) => role === 'tool_result').map(({content}) => JSON.parse(content ?? '') as Result);
}

describe('a call that must be asked about', () => {
  it('waits in both places with all there is to know, and runs once when its box is ticked', async () => {
    const id = calling(command('echo one >> ran.txt', {reason: 'to see'}));
    const item = await askedBy(house.home, id);
    expect(item).toMatchObject({
      status: 'pending',
      type: 'terminal_command',
      agent: 'talker',
      session: id,
      call: 'call0',
      command: 'echo one >> ran.txt',
    });
    expect(item.task.title).toMatch(/^Approve command(?: on the host)?: echo one >> ran\.txt$/);
    expect(field(item, 'reason')).toBe('to see');
    const {action, meta} = pageOf(house.home, item.id);
    expect(meta).toMatchObject({agent: 'talker', session: id, call: 'call0', status: 'pending', digest: item.digest});
    expect(action).toMatchObject({type: 'terminal_command', command: 'echo one >> ran.txt', reason: 'to see'});
    expect(sessionOf(house.home, id).header?.status).toBe('waiting');
    expect(existsSync(inWorkspace('ran.txt'))).toBe(false);
    decideInQueue(house.home, item.id, 'x');
    expect(await resultsOf(id)).toMatchObject([{success: true, exit_code: 0}]);
    expect(readFileSync(inWorkspace('ran.txt'), 'utf8')).toBe('one\n');
    const done = await whenItem(house.home, item.id, ({outcome}) => outcome !== undefined);
    expect(done).toMatchObject({status: 'approved', outcome: 'done, exit code 0'});
    expect(field(done, 'executed_at')).toMatch(/^2\d{3}-/);
    expect(done.by).toContain('@');
    await until(
      () => pagesIn(house.home, 'approved'),
      pages => pages.includes(item.id ?? ''),
    );
    expect(pagesIn(house.home, 'pending')).not.toContain(item.id);
    expect(pageOf(house.home, item.id, 'approved').review).toMatchObject({decision: 'approved'});
  });

  it('is decided on its page as well, and a rejection tells the agent why', async () => {
    const id = calling(command('echo two > two.txt'));
    const item = await askedBy(house.home, id);
    decideOnPage(house.home, item.id, {decision: 'REJECTED', reason: 'not today', by: 'Ada'});
    const [result] = await resultsOf(id);
    expect(result).toMatchObject({success: false, code: 'REJECTED'});
    expect(result?.error).toContain('not today');
    const done = await whenItem(house.home, item.id, ({status}) => status === 'rejected');
    expect(done).toMatchObject({by: 'Ada', reason: 'not today', decision: 'rejected'});
    await until(
      () => pagesIn(house.home, 'rejected'),
      pages => pages.includes(item.id ?? ''),
    );
    expect(existsSync(inWorkspace('two.txt'))).toBe(false);
  });

  it('runs as the person changed it, judged anew', async () => {
    const id = calling(command('echo three > three.txt'));
    const item = await askedBy(house.home, id);
    decideInQueue(house.home, item.id, 'x', {command: 'echo edited > edited.txt'});
    const [result] = await resultsOf(id);
    expect(result).toMatchObject({success: true, edited: {command: 'echo edited > edited.txt'}});
    expect(existsSync(inWorkspace('three.txt'))).toBe(false);
    expect(readFileSync(inWorkspace('edited.txt'), 'utf8')).toBe('edited\n');
    const done = await whenItem(house.home, item.id, ({outcome}) => outcome !== undefined);
    expect(field(done, 'edited')).toBe('true');
    expect(field(done, 'original')).toBe('echo three > three.txt');
    const ran = 'execute_command `echo edited > edited.txt` (edited)';
    const log = await until(
      () => git(house.home, 'log', '--format=%s', '--', `sessions/${id}.session.yaml`),
      text => text.includes(`result of ${ran}`),
    );
    expect(log).toContain(`started ${ran}`);
    expect(log).toContain('asks about execute_command `echo three > three.txt`');
    expect(await git(house.home, '--git-dir=.workspaces/talker.git', 'log', '-1', '--format=%s')).toContain(ran);
    const denied = calling(command('echo four > four.txt'));
    const other = await askedBy(house.home, denied);
    decideInQueue(house.home, other.id, 'x', {command: 'rm -rf edited.txt'});
    expect(await resultsOf(denied)).toMatchObject([{success: false, code: 'DENIED'}]);
    expect(existsSync(inWorkspace('edited.txt'))).toBe(true);
  });

  it('asks anew when the file it would replace has changed, and the old yes does not count', async () => {
    put(house.home, {'workspaces/talker/notes.txt': 'old\n'});
    const id = calling({name: 'write_file', arguments: {path: 'notes.txt', content: 'new\n'}});
    const item = await askedBy(house.home, id);
    expect(pageOf(house.home, item.id).action.diff).toContain('-old\n+new');
    writeFileSync(inWorkspace('notes.txt'), 'changed meanwhile\n');
    decideInQueue(house.home, item.id, 'x');
    const again = await askedBy(house.home, id, 1);
    expect(again.status).toBe('pending');
    expect(pageOf(house.home, again.id).action.diff).toContain('-changed meanwhile\n+new');
    expect(readFileSync(inWorkspace('notes.txt'), 'utf8')).toBe('changed meanwhile\n');
    const old = await whenItem(house.home, item.id, ({status}) => status === 'superseded');
    expect(old.outcome).toContain(`asked again as ${again.id}`);
    decideOnPage(house.home, again.id, {decision: 'APPROVED'}, text => text.replace('\nnew\n```', '\nnewer\n```'));
    expect(await resultsOf(id)).toMatchObject([{success: true, edited: {content: 'newer\n'}}]);
    expect(readFileSync(inWorkspace('notes.txt'), 'utf8')).toBe('newer\n');
  });

  it('shows another diff when the file has changed, before anybody decides', async () => {
    put(house.home, {'workspaces/talker/doc.txt': 'one\n'});
    const id = calling({name: 'write_file', arguments: {path: 'doc.txt', content: 'two\n'}});
    const item = await askedBy(house.home, id);
    writeFileSync(inWorkspace('doc.txt'), 'one\nand a half\n');
    const again = await askedBy(house.home, id, 1);
    expect(pageOf(house.home, again.id).action.diff).toContain('-one\n-and a half\n+two');
    await whenItem(house.home, item.id, ({status}) => status === 'superseded');
    decideInQueue(house.home, again.id, '-');
    expect(await resultsOf(id)).toMatchObject([{code: 'REJECTED'}]);
  });

  it('is asked together with the others of its answer, and they run in order', async () => {
    const id = calling(command('echo a >> order.txt'), command('echo b >> order.txt'), command('cat order.txt'));
    const [first, second] = [await askedBy(house.home, id, 0), await askedBy(house.home, id, 1)];
    decideInQueue(house.home, second.id, 'x');
    await whenItem(house.home, second.id, ({status}) => status === 'approved');
    expect(existsSync(inWorkspace('order.txt'))).toBe(false);
    decideInQueue(house.home, first.id, 'x');
    expect(await resultsOf(id)).toMatchObject([{success: true}, {success: true}, {success: true, stdout: 'a\nb\n'}]);
  });

  it('comes back when its item or its page is removed, and is withdrawn with its session', async () => {
    const id = calling(command('echo gone > gone.txt'));
    const item = await askedBy(house.home, id);
    const queue = read(house.home, 'tasks/approvals.task.md');
    writeFileSync(
      join(house.home, 'tasks/approvals.task.md'),
      queue.slice(0, item.task.start) + queue.slice(item.task.end),
    );
    rmSync(join(house.home, pagePath(item.id)));
    await until(() => existsSync(join(house.home, pagePath(item.id))), Boolean);
    await whenItem(house.home, item.id, ({status}) => status === 'pending');
    rmSync(join(house.home, pathOf(id)));
    const gone = await whenItem(house.home, item.id, ({status}) => status === 'withdrawn');
    expect(gone.decision).toBe('rejected');
  });

  it('no wins over yes, and what is neither runs nothing', async () => {
    const id = calling(command('echo both > both.txt'));
    const item = await askedBy(house.home, id);
    decideInQueue(house.home, item.id, '/');
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('UNCLEAR_DECISION'),
    );
    // Others are decided all the same.
    const other = calling(command('echo other > other.txt'));
    decideOnPage(house.home, (await askedBy(house.home, other)).id, {decision: 'APPROVED'});
    expect(await resultsOf(other)).toMatchObject([{success: true}]);
    decideOnPage(house.home, item.id, {decision: 'APPROVED'});
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes(`approval ${item.id}: its box`),
    );
    decideInQueue(house.home, item.id, '-', {rejection_reason: 'no'});
    expect(await resultsOf(id)).toMatchObject([{success: false, code: 'REJECTED'}]);
    expect(existsSync(inWorkspace('both.txt'))).toBe(false);
  });

  it('with always, adds the narrowest rule, and is not asked about again', async () => {
    const id = calling(command('touch "a b.txt"'));
    const item = await askedBy(house.home, id);
    decideInQueue(house.home, item.id, 'x', {always: 'Yes'});
    expect(await resultsOf(id)).toMatchObject([{success: true}]);
    const policy = read(house.home, 'allowlist.yaml');
    expect(policy).toContain(`approval ${item.id}`);
    const done = await whenItem(house.home, item.id, ({outcome}) => outcome !== undefined);
    expect(done.outcome).toBe('done, exit code 0');
    expect(field(done, 'rule')).toContain('touch');
    expect(await resultsOf(calling(command('touch "a b.txt"')))).toMatchObject([{success: true}]);
    const other = calling(command('touch c.txt'));
    decideInQueue(house.home, (await askedBy(house.home, other)).id, '-');
    await resultsOf(other);
  });

  it('a rule that a person adds instead lets it go on', async () => {
    const id = calling(command('mkdir made'));
    const item = await askedBy(house.home, id);
    const policy = read(house.home, 'allowlist.yaml');
    writeFileSync(join(house.home, 'allowlist.yaml'), policy.replace('"echo *"', '"mkdir made", "echo *"'));
    expect(await resultsOf(id)).toMatchObject([{success: true}]);
    await whenItem(
      house.home,
      item.id,
      ({status, outcome}) => status === 'withdrawn' && outcome?.includes('policy allows') === true,
    );
  });
});

describe('what a person writes on a page', () => {
  it('reaches the agent as it is, and stays so', async () => {
    const answer = 'Run this:\n\n```sh\nnpm ci\n```\n**Never:** npm install <!-- sic -->\nat all.';
    const id = calling({name: 'ask_human', arguments: {question: 'How?'}});
    const item = await askedBy(house.home, id);
    const written = read(house.home, pagePath(item.id))
      .replace('**Answer:**\n', `**Answer:** ${answer}\n`)
      .replace('**Decision:** <!--', '**Decision:** Approved! <!--');
    put(house.home, {[pagePath(item.id)]: written});
    expect(await resultsOf(id)).toMatchObject([{success: true, answer}]);
    await until(
      () => read(house.home, pagePath(item.id, 'approved')),
      text => text !== '',
    );
    const kept = read(house.home, pagePath(item.id, 'approved'));
    const same = (text: string) => text.replace(/^(?:status|\*\*Reviewed).*$/gm, '');
    expect(same(kept)).toBe(same(written));
    expect(pageOf(house.home, item.id, 'approved').review).toMatchObject({answer, by: expect.stringContaining('@')});
  });

  it('and of several lines in the queue, stands on the page as well', async () => {
    const id = calling({name: 'ask_human', arguments: {question: 'What then?'}}, command('echo no > no.txt'));
    const [question, other] = [await askedBy(house.home, id, 0), await askedBy(house.home, id, 1)];
    decideInQueue(house.home, question.id, 'x', {answer: 'first\n  second'});
    const reason = 'not this\n\n**Ever:** again';
    put(house.home, {
      [pagePath(other.id)]: read(house.home, pagePath(other.id))
        .replace('**Decision:** <!--', '**Decision:** REJECTED <!--')
        .replace('**Notes:**\n', `**Notes:** ${reason}\n`),
    });
    expect(await resultsOf(id)).toMatchObject([{answer: 'first\n  second'}, {code: 'REJECTED'}]);
    await until(() => pagesIn(house.home, 'approved').includes(question.id ?? ''), Boolean);
    await until(() => pagesIn(house.home, 'rejected').includes(other.id ?? ''), Boolean);
    expect(pageOf(house.home, question.id, 'approved').review?.answer).toBe('first\n  second');
    expect(read(house.home, pagePath(other.id, 'rejected'))).toContain(`**Notes:** ${reason}\n`);
  });
});

describe('a yes', () => {
  it('may be taken back until the call begins, and given again', async () => {
    const id = calling(command('echo back > back.txt'));
    const item = await askedBy(house.home, id);
    const text = read(house.home, pathOf(id));
    writeFileSync(join(house.home, pathOf(id)), text.replace('status: waiting', 'status: paused'));
    const committed = () => git(house.home, 'log', '-1', '--format=%s', '--', pathOf(id));
    await until(committed, subject => subject.includes('paused'));
    decideInQueue(house.home, item.id, 'x');
    await until(
      () => pagesIn(house.home, 'approved'),
      pages => pages.includes(item.id ?? ''),
    );
    decideInQueue(house.home, item.id, '_');
    await whenItem(house.home, item.id, ({status}) => status === 'pending');
    await until(
      () =>
        [pagesIn(house.home, 'pending'), pagesIn(house.home, 'approved')].map(pages => pages.includes(item.id ?? '')),
      ([pending, approved]) => pending === true && approved === false,
    );
    writeFileSync(
      join(house.home, pathOf(id)),
      read(house.home, pathOf(id)).replace('status: paused', 'status: active'),
    );
    await whenIt(house.home, id, (_, {header}) => header?.status === 'waiting');
    expect(existsSync(inWorkspace('back.txt'))).toBe(false);
    decideInQueue(house.home, item.id, 'x');
    expect(await resultsOf(id)).toMatchObject([{success: true}]);
    await until(
      () => pagesIn(house.home, 'approved'),
      pages => pages.includes(item.id ?? ''),
    );
    // An editor that still had the page open saves it: nothing comes of it, and it stays.
    put(house.home, {
      [pagePath(item.id)]: read(house.home, pagePath(item.id, 'approved')).replace('APPROVED', 'REJECTED'),
    });
    await until(
      () => git(house.home, 'log', '-1', '--format=%s', '--', pagePath(item.id)),
      subject => subject.includes('by hand'),
    );
    expect(existsSync(join(house.home, pagePath(item.id)))).toBe(true);
    rmSync(join(house.home, pagePath(item.id)));
  });

  it('is taken back by a no on its page while the call waits for another call in its workspace', async () => {
    const id = calling(command('echo late > late.txt'));
    const item = await askedBy(house.home, id);
    const holding = calling(command('echo hold > hold.txt'));
    const held = await askedBy(house.home, holding);
    // An approved call runs alone in the workspace.
    decideInQueue(house.home, held.id, 'x', {
      command: 'echo > holding.txt; while [ ! -e go.txt ]; do sleep 0.05; done',
    });
    await until(() => existsSync(inWorkspace('holding.txt')), Boolean);
    decideInQueue(house.home, item.id, 'x');
    const page = pagePath(item.id, 'approved');
    await until(() => read(house.home, page), Boolean);
    const isMarked = () =>
      sessionOf(house.home, id).messages.some(({tool_calls = []}) => tool_calls.some(({started}) => started));
    expect(isMarked()).toBe(false);
    put(house.home, {[page]: read(house.home, page).replace('APPROVED', 'REJECTED')});
    expect(await resultsOf(id)).toMatchObject([{success: false, code: 'REJECTED'}]);
    writeFileSync(inWorkspace('go.txt'), '');
    expect(existsSync(inWorkspace('late.txt'))).toBe(false);
    expect(await resultsOf(holding)).toMatchObject([{success: true}]);
  });

  it('that does not count yet may be taken back as well', async () => {
    const id = calling({name: 'ask_human', arguments: {question: 'Sure?'}});
    const item = await askedBy(house.home, id);
    decideInQueue(house.home, item.id, 'x');
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('with your answer'),
    );
    decideInQueue(house.home, item.id, '_');
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => !text.includes('with your answer'),
    );
    expect(itemsOf(house.home).find(each => each.id === item.id)?.decision).toBeUndefined();
    decideInQueue(house.home, item.id, '-');
    expect(await resultsOf(id)).toMatchObject([{success: false, code: 'REJECTED'}]);
  });
});

describe('a call that ran', () => {
  const lines = (name: string) => readFileSync(inWorkspace(name), 'utf8').split('\n').length - 1;
  const text = (path: string) => read(house.home, path);

  it('does not run again when its session comes back from before, and its request is told as it was', async () => {
    const id = calling(command('echo x >> once.txt'));
    const item = await askedBy(house.home, id);
    await whenIt(house.home, id, (_, {header}) => header?.status === 'waiting');
    const before = text(pathOf(id));
    decideInQueue(house.home, item.id, 'x');
    await whenItem(house.home, item.id, ({outcome}) => outcome !== undefined);
    await resultsOf(id);
    const queue = text('tasks/approvals.task.md');
    // As git reset --hard would: the session from before the start, the queue from before its outcome.
    rmSync(join(house.home, pathOf(id)));
    await clean(house.home);
    put(house.home, {
      [pathOf(id)]: before,
      'tasks/approvals.task.md': queue.replace(/\n {2}executed_at: .*\n {2}outcome: done.*(?=\n$)/, ''),
    });
    const again = await askedBy(house.home, id, 1);
    expect(again.type).toBe('retry');
    expect(lines('once.txt')).toBe(1);
    decideInQueue(house.home, again.id, '-');
    expect(await resultsOf(id)).toMatchObject([{success: false, code: 'REJECTED'}]);
    expect(lines('once.txt')).toBe(1);
  });

  it('runs once more if a person approves that, and the journal is right about it', async () => {
    const id = calling(command('echo x >> twice.txt'));
    const item = await askedBy(house.home, id);
    await whenIt(house.home, id, (_, {header}) => header?.status === 'waiting');
    await clean(house.home);
    const before = (await git(house.home, 'log', '-1', '--format=%H', '--', pathOf(id))).trim();
    decideInQueue(house.home, item.id, 'x');
    await whenItem(house.home, item.id, ({outcome}) => outcome !== undefined);
    await resultsOf(id);
    await clean(house.home);
    await git(house.home, 'checkout', before, '--', pathOf(id));
    const again = await askedBy(house.home, id, 1);
    expect(again.type).toBe('retry');
    expect(pageOf(house.home, again.id).action['asks because']).toContain(
      'an older version of its session was brought',
    );
    decideInQueue(house.home, again.id, 'x');
    const {outcome} = await whenItem(house.home, again.id, ({outcome: came}) => came !== undefined);
    expect(outcome).toContain('done');
    expect(lines('twice.txt')).toBe(2);
    await clean(house.home);
    expect(await agentdir(house.home, ['verify', id])).toMatchObject({code: 0});
  });

  it('is known by the journal, where nothing else remembers it: after a checkout, and after a reset', async () => {
    const id = calling(command('echo x >> journal.txt'));
    const item = await askedBy(house.home, id);
    decideInQueue(house.home, item.id, 'x');
    await whenItem(house.home, item.id, ({outcome}) => outcome !== undefined);
    await resultsOf(id);
    await clean(house.home);
    const approved = (await git(house.home, 'log', '-1', '--format=%H', `--grep=approved ${item.id} by hand`)).trim();
    const head = (await git(house.home, 'rev-parse', 'HEAD')).trim();
    for (const back of [
      ['checkout', approved, '--', 'sessions', 'tasks', 'approvals'],
      ['reset', '--hard', '--quiet', approved],
    ]) {
      await house.daemon.stop();
      await git(house.home, ...back);
      rmSync(join(house.home, '.agentdir'), {recursive: true});
      house.daemon = await serve(house.home, house.stage.env, end => house.ends.push(end));
      const again = await askedBy(house.home, id, 1);
      expect(again.type).toBe('retry');
      decideInQueue(house.home, again.id, '-');
      expect(await resultsOf(id)).toMatchObject([{code: 'REJECTED'}]);
      expect(lines('journal.txt')).toBe(1);
      await clean(house.home);
    }
    await house.daemon.stop();
    await git(house.home, 'reset', '--hard', '--quiet', head);
    house.daemon = await serve(house.home, house.stage.env, end => house.ends.push(end));
  });

  it('by a rule neither', async () => {
    const id = calling(command('echo by rule'));
    await resultsOf(id);
    const {messages} = sessionOf(house.home, id);
    expect(messages).toHaveLength(4);
    const kept = text(pathOf(id))
      .replace(/ {2}- timestamp: [^\n]*\n {4}role: tool_result[\s\S]*/, '')
      .replace(/\n +started: .*\n +run: .*/, '')
      .replace('status: sleeping', 'status: active');
    rmSync(join(house.home, pathOf(id)));
    await clean(house.home);
    put(house.home, {[pathOf(id)]: kept});
    const item = await askedBy(house.home, id);
    expect(item.type).toBe('retry');
    decideInQueue(house.home, item.id, '-');
    await resultsOf(id);
  });
});

describe('a status that a person wrote', () => {
  it('is no decision of its own: edits, a no and doubts on the page count', async () => {
    const edited = calling(command('echo a > orig-a.txt'));
    const one = await askedBy(house.home, edited);
    decideInQueue(house.home, one.id, 'x', {
      command: 'echo b > edited-b.txt',
      status: 'approved',
      approved_by: 'Me',
      approved_at: '2026-11-16T00:00:00.000Z',
    });
    expect(await resultsOf(edited)).toMatchObject([{success: true, edited: {command: 'echo b > edited-b.txt'}}]);
    expect(existsSync(inWorkspace('orig-a.txt'))).toBe(false);
    const two = calling(command('echo 1 > first.txt'), command('echo 2 > second.txt'));
    const [first, second] = [await askedBy(house.home, two, 0), await askedBy(house.home, two, 1)];
    decideInQueue(house.home, second.id, 'x');
    await whenItem(house.home, second.id, ({status}) => status === 'approved');
    decideInQueue(house.home, second.id, 'x', {command: 'echo 3 > third.txt'});
    await whenItem(house.home, second.id, item => field(item, 'edited') === 'true');
    decideInQueue(house.home, first.id, 'x');
    expect(await resultsOf(two)).toMatchObject([
      {success: true},
      {success: true, edited: {command: 'echo 3 > third.txt'}},
    ]);
    expect(existsSync(inWorkspace('second.txt'))).toBe(false);
  });
});

describe('always, twice for the same', () => {
  it('adds one rule, and both run', async () => {
    const id = calling(command('touch twice.txt'), command('touch twice.txt'));
    const [one, two] = [await askedBy(house.home, id, 0), await askedBy(house.home, id, 1)];
    decideInQueue(house.home, two.id, 'x', {always: 'true'});
    decideInQueue(house.home, one.id, 'x', {always: 'true'});
    expect(await resultsOf(id)).toMatchObject([{success: true}, {success: true}]);
    for (const {id: each} of [one, two]) await whenItem(house.home, each, ({outcome}) => outcome !== undefined);
    expect(read(house.home, 'allowlist.yaml').match(/touch twice\.txt/g)).toHaveLength(1);
  });
});

describe('a question', () => {
  it('waits for an answer, which is its result', async () => {
    const id = calling({name: 'ask_human', arguments: {question: 'Which port?', options: ['6379 | 6380', '6381']}});
    const item = await askedBy(house.home, id);
    expect(item).toMatchObject({type: 'question'});
    expect(field(item, 'options')).toBe('1. 6379 | 6380\n2. 6381');
    decideInQueue(house.home, item.id, 'x');
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('with your answer'),
    );
    decideInQueue(house.home, item.id, 'x', {answer: '6380, the second'});
    expect(await resultsOf(id)).toEqual([{success: true, answer: '6380, the second'}]);
    const other = calling({name: 'ask_human', arguments: {question: 'Now?'}});
    decideOnPage(house.home, (await askedBy(house.home, other)).id, {decision: 'APPROVED', answer: 'Later, please'});
    expect(await resultsOf(other)).toEqual([{success: true, answer: 'Later, please'}]);
  });
});

describe('remember', () => {
  it('adds a note to the memory once it is approved, as the agent', async () => {
    const id = calling({name: 'remember', arguments: {file: 'redis', text: 'Redis runs on 6380.'}});
    const item = await askedBy(house.home, id);
    expect(existsSync(join(house.home, 'memory/redis.md'))).toBe(false);
    decideInQueue(house.home, item.id, 'x');
    expect(await resultsOf(id)).toMatchObject([{success: true, path: 'memory/redis.md'}]);
    expect(read(house.home, 'memory/redis.md')).toMatch(/^- \d{4}-\d\d-\d\d @talker: Redis runs on 6380\.\n$/);
    const log = await until(
      () => git(house.home, 'log', '-1', '--format=%an %(trailers:key=Approval,valueonly)', '--', 'memory/redis.md'),
      text => text !== '',
    );
    expect(log.trim()).toBe(`talker ${item.id}`);
    const other = calling({name: 'remember', arguments: {file: '../templates/x', text: 'no'}});
    expect(await resultsOf(other)).toMatchObject([{success: false, code: 'INVALID_ARGUMENTS'}]);
  });

  it('writes nothing below a folder that is a link', async () => {
    const outside = temporary();
    symlinkSync(outside, join(house.home, 'memory/out'));
    const id = calling({name: 'remember', arguments: {file: 'out/x', text: 'elsewhere'}});
    decideInQueue(house.home, (await askedBy(house.home, id)).id, 'x');
    const error = expect.stringContaining('memory/out/x.md is below memory/out, a link');
    expect(await resultsOf(id)).toMatchObject([{success: false, code: 'FAILED', error}]);
    expect(readdirSync(outside)).toEqual([]);
    rmSync(join(house.home, 'memory/out'));
  });
});

describe('while a command runs outside the sandbox', () => {
  it('no decision, rule or template counts, and what was written is kept aside', async () => {
    const waiting = calling(command('echo forged > forged.txt'));
    const item = await askedBy(house.home, waiting);
    const policy = read(house.home, 'allowlist.yaml');
    // As an agent would that talked a person into this.
    const forge = [
      `sed -i '/^- .*forged.txt/s/\\[_\\]/[x]/' ${house.home}/tasks/approvals.task.md`,
      `echo '# mine' >> ${house.home}/allowlist.yaml`,
      `cp ${house.home}/templates/talker.agent.yaml ${house.home}/templates/evil.agent.yaml`,
      'sleep 0.3',
      `echo '# mine too' >> ${house.home}/templates/talker.agent.yaml`,
    ].join('; ');
    const id = calling(command(forge, {sandbox: 'host'}));
    const host = await askedBy(house.home, id);
    expect(pageOf(house.home, host.id).action.permissions).toContain('host');
    decideInQueue(house.home, host.id, 'x');
    expect(await resultsOf(id)).toMatchObject([{success: true, ran: 'host'}]);
    await until(
      () => read(house.home, 'allowlist.yaml'),
      text => text === policy,
    );
    await until(
      () => existsSync(join(house.home, 'templates/evil.agent.yaml')),
      there => !there,
    );
    await until(
      () => read(house.home, 'templates/talker.agent.yaml'),
      text => text === AGENT,
    );
    await whenItem(house.home, item.id, ({decision}) => decision === undefined);
    expect(existsSync(inWorkspace('forged.txt'))).toBe(false);
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('conflicts/void/allowlist.') && text.includes('a change that does not count'),
    );
    const log = await until(
      () => git(house.home, 'log', '--format=%s', '--', 'conflicts'),
      text => text.includes('allowlist.yaml'),
    );
    expect(log).toMatch(/a change of allowlist\.yaml that does not count: .* ran outside the sandbox/);
    rmSync(join(house.home, 'conflicts'), {recursive: true});
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => !text.includes('conflicts/'),
    );
    const fifo = join(house.home, '../gate');
    const slow = calling(command(`mkfifo ${fifo}; cat ${fifo}`, {sandbox: 'host'}));
    decideInQueue(house.home, (await askedBy(house.home, slow)).id, 'x');
    await until(
      () => existsSync(fifo) && JSON.parse(read(house.home, '.agentdir/status.json')).unconfined !== undefined,
      Boolean,
    );
    expect(await agentdir(house.home, ['approve', item.id ?? ''])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no decision counts while a command runs outside the sandbox'),
    });
    writeFileSync(fifo, 'go\n');
    expect(await resultsOf(slow)).toMatchObject([{success: true}]);
    expect(existsSync(join(house.home, 'conflicts'))).toBe(false);
    decideInQueue(house.home, item.id, 'x');
    expect(await resultsOf(waiting)).toMatchObject([{success: true}]);
  });
});

describe('decided requests', () => {
  it('go to the archive of their month when there are many, whole and once', async () => {
    const path = join(house.home, 'tasks/approvals.task.md');
    await until(
      () => itemsOf(house.home),
      items =>
        items.every(({status, outcome}) => status !== 'pending' && (status !== 'approved' || outcome !== undefined)),
    );
    const old = Array.from(
      {length: 160},
      (_, i) =>
        `- [x] A @human #approval "Approve command: old ${i}"\n  id: old-${i}\n  created: 2025-01-02T03:04:05.000Z\n  status: approved\n  outcome: done\n`,
    );
    writeFileSync(path, `${read(house.home, 'tasks/approvals.task.md').trimEnd()}\n\n${old.join('\n')}`);
    const archive = 'tasks/archive/approvals-2025-01.task.md';
    await until(
      () => itemsOf(house.home),
      items => !items.some(({id}) => id === 'old-30'),
    );
    const there = read(house.home, archive);
    const left = read(house.home, 'tasks/approvals.task.md');
    for (let i = 0; i < 160; i++) {
      const line = `  id: old-${i}\n`;
      expect(
        [there, left].filter(text => text.includes(line)),
        line,
      ).toHaveLength(1);
    }
    expect(left).toContain('id: old-159');
    await clean(house.home);
  });
});
