import {existsSync, renameSync, rmSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {APPROVALS_FILE} from '../../src/formats/approval/approval-item.ts';
import {git, put, until} from '../cli/run.ts';
import {
  askedBy,
  decideInQueue,
  decideOnPage,
  field,
  itemsOf,
  pageOf,
  pagePath,
  pagesIn,
  whenItem,
} from '../daemon/deciding.ts';
import {clean, read} from '../daemon/serve.ts';
import {pathOf, sessionOf} from '../daemon/talk.ts';
import {Court, command} from './court.ts';

const court = new Court('forge');
const past = '2020-01-01T00:00:00.000Z';
const approve = (text: string) => text.replace('**Decision:** <!--', '**Decision:** APPROVED <!--');

describe('forged', () => {
  it('an item that nobody asked for is withdrawn', async () => {
    const {line} = court.canary(0);
    court.saveQueue(
      `${court.queue || '# Approvals\n\n## TODO\n'}\n- [x] "Approve command: ${line}"\n  id: forged1\n  approval_type: terminal_command\n  agent: talker\n  status: pending\n  command: ${line}\n`,
    );
    await whenItem(court.home, 'forged1', ({status}) => status === 'withdrawn');
  });

  it('a page that nobody asked for decides nothing', async () => {
    const {id, session, line} = await court.asks(0);
    const page = approve(read(court.home, pagePath(id)).replaceAll(id, 'forged2'));
    expect(page).toContain(line);
    put(court.home, {[pagePath('forged2')]: page});
    await court.told('forged2');
    rmSync(join(court.home, pagePath('forged2')));
    await court.refuse(session, id);
  });

  it('status: approved without a tick is no decision', async () => {
    const {id, session} = await court.asks(0);
    decideInQueue(court.home, id, '_', {status: 'approved', approved_by: 'Eve', approved_at: new Date().toISOString()});
    await whenItem(court.home, id, ({status}) => status === 'pending');
    await court.refuse(session, id);
  });

  it('status: approved with a tick is a tick, and recorded as one', async () => {
    const {id, session, runs} = await court.asks(1);
    decideInQueue(court.home, id, 'x', {status: 'approved'});
    expect(await court.results(session)).toMatchObject([{success: true}]);
    expect(runs()).toBe(1);
    const done = await whenItem(court.home, id, ({outcome}) => outcome !== undefined);
    expect(done.by).toContain('Ada');
    expect(done.at).toMatch(/^2/);
  });

  it('status: approved by hand is not more than the page that rejects', async () => {
    const {id, session} = await court.asks(0);
    court.atOnce(() => {
      decideInQueue(court.home, id, 'x', {status: 'approved'});
      decideOnPage(court.home, id, {decision: 'REJECTED'});
    });
    expect(await court.results(session)).toMatchObject([{code: 'REJECTED'}]);
  });

  it('status: approved by hand does not undo that the time is over', async () => {
    const {id, session} = await court.asks(0);
    decideInQueue(court.home, id, 'x', {status: 'approved', expires: past});
    expect(await court.results(session)).toMatchObject([{code: 'EXPIRED'}]);
  });

  it.each([
    ['digest', `sha256:${'0'.repeat(64)}`],
    ['agent', 'planner'],
    ['session', 'forge1'],
    ['call', 'call1'],
    ['approval_type', 'budget'],
    ['approval_type', 'question'],
  ])('an item with another %s (%s) is not the one that was asked', async (key, value) => {
    const asked = await court.asks(0);
    decideInQueue(court.home, asked.id, 'x', {[key]: value});
    await court.askedAnew(asked);
  });

  it('an item that has taken the id of another is not that one, and while it has, nothing is decided', async () => {
    const [mild, wild] = [await court.asks(0), await court.asks(0)];
    const before = court.queue;
    court.saveQueue(before.replace(`id: ${mild.id}`, `id: ${wild.id}`).replace(/- \[_\](?=.*ran-)/g, '- [x]'));
    await court.told(`DUPLICATE_ID`);
    court.saveQueue(before);
    await court.refuse(mild.session, mild.id);
    await court.refuse(wild.session, wild.id);
  });
});

/** When all is in git: where that is. */
async function cleanHead(): Promise<string> {
  await clean(court.home);
  return (await git(court.home, 'rev-parse', 'HEAD')).trim();
}

describe('replayed', () => {
  it('a decided item set back to pending, and a page saved again, run nothing twice', async () => {
    const {id, session, runs} = await court.asks(1);
    const page = read(court.home, pagePath(id));
    decideInQueue(court.home, id, 'x');
    await court.results(session);
    await whenItem(court.home, id, ({outcome}) => outcome !== undefined);
    await until(() => pagesIn(court.home, 'approved').includes(id), Boolean);
    put(court.home, {[pagePath(id)]: approve(page)});
    decideInQueue(court.home, id, 'x', {status: 'pending', outcome: undefined, executed_at: undefined});
    await whenItem(court.home, id, ({status}) => status === 'withdrawn' || status === 'approved');
    expect(runs()).toBe(1);
    rmSync(join(court.home, pagePath(id)), {force: true});
  });

  it('a page saved again after no does not turn it', async () => {
    const {id, session} = await court.asks(0);
    const page = read(court.home, pagePath(id));
    await court.refuse(session, id);
    await until(() => pagesIn(court.home, 'rejected').includes(id), Boolean);
    put(court.home, {[pagePath(id)]: approve(page)});
    decideInQueue(court.home, id, 'x', {status: 'pending'});
    const item = await whenItem(court.home, id, ({status}) => status === 'rejected');
    expect(item.outcome).toContain('REJECTED');
    rmSync(join(court.home, pagePath(id)), {force: true});
  });

  it('a decision put on another call, of this or another session, does not count there', async () => {
    const used = await court.asks(1);
    decideInQueue(court.home, used.id, 'x');
    await whenItem(court.home, used.id, ({outcome}) => outcome !== undefined);
    const other = await court.asks(0);
    const path = join(court.home, pathOf(other.session));
    writeFileSync(path, read(court.home, pathOf(other.session)).replace(other.id, used.id));
    const again = await askedBy(court.home, other.session, 1);
    await court.refuse(other.session, again.id);
  });

  it('the same call in a later turn is asked about, even if it names the old decision', async () => {
    const canary = court.canary(1);
    const session = court.calling([command(canary.line)], [command(canary.line)]);
    const first = await askedBy(court.home, session);
    decideInQueue(court.home, first.id, 'x');
    const second = await askedBy(court.home, session, 1);
    expect(canary.runs()).toBe(1);
    await whenItem(court.home, first.id, ({outcome}) => outcome !== undefined);
    const text = read(court.home, pathOf(session));
    writeFileSync(join(court.home, pathOf(session)), text.replace(second.id ?? '', first.id ?? ''));
    const third = await askedBy(court.home, session, 2);
    await court.refuse(session, third.id);
    expect(canary.runs()).toBe(1);
  });

  it('a session checked out from before its call ran does not run it again', async () => {
    const {id, session, runs} = await court.asks(1);
    const before = await cleanHead();
    decideInQueue(court.home, id, 'x');
    await whenItem(court.home, id, ({outcome}) => outcome !== undefined);
    await court.results(session);
    await cleanHead();
    await git(court.home, 'checkout', before, '--', pathOf(session));
    await court.askedAnew({session, id});
    expect(runs()).toBe(1);
  });

  it('a queue checked out from before the decisions runs nothing again', async () => {
    const {id, session, runs} = await court.asks(1);
    const before = await cleanHead();
    decideInQueue(court.home, id, 'x');
    await court.results(session);
    await whenItem(court.home, id, ({outcome}) => outcome !== undefined);
    await cleanHead();
    await git(court.home, 'checkout', before, '--', APPROVALS_FILE);
    await whenItem(court.home, id, ({status}) => status === 'withdrawn' || status === 'pending');
    decideInQueue(court.home, id, 'x');
    await whenItem(court.home, id, ({status}) => status !== 'pending');
    expect(runs()).toBe(1);
  });

  it('of a session that was copied, with its id or a new one, the decision counts once', async () => {
    const {id, session, runs} = await court.asks(1);
    const text = read(court.home, pathOf(session));
    put(court.home, {
      [pathOf(`${session}-same`)]: text,
      [pathOf(`${session}-new`)]: text.replace(`session_id: ${session}`, `session_id: ${session}-new`),
    });
    await court.told('DUPLICATE_ID');
    decideInQueue(court.home, id, 'x');
    await court.askedAnew({session: `${session}-new`, id});
    expect(runs()).toBe(0);
    rmSync(join(court.home, pathOf(`${session}-same`)));
    expect(await court.results(session)).toMatchObject([{success: true}]);
    expect(runs()).toBe(1);
    await whenItem(court.home, id, ({outcome}) => outcome !== undefined);
  });
});

describe('copied', () => {
  const double = (id: string, box: string) => {
    const item = itemsOf(court.home).find(each => each.id === id);
    const text = court.queue.slice(item?.task.start, item?.task.end);
    court.saveQueue(`${court.queue.trimEnd()}\n\n${text.replace('[_]', `[${box}]`).trimEnd()}\n`);
    return text;
  };

  it('an item that is there twice, with whichever boxes, decides nothing until one is left', async () => {
    const [yes, no] = [await court.asks(1), await court.asks(0)];
    const before = court.queue;
    double(yes.id, 'x');
    double(no.id, '-');
    await court.told('DUPLICATE_ID');
    expect(yes.runs()).toBe(0);
    court.saveQueue(before);
    decideInQueue(court.home, yes.id, 'x');
    expect(await court.results(yes.session)).toMatchObject([{success: true}]);
    expect(yes.runs()).toBe(1);
    await court.refuse(no.session, no.id);
  });

  it('the whole queue pasted twice, ticked throughout, runs nothing', async () => {
    const asked = [await court.asks(0), await court.asks(0)];
    const before = court.queue;
    const ticked = before.replace(/- \[_\](?=.*ran-)/g, '- [x]');
    court.saveQueue(`${ticked}\n${ticked}`);
    await court.told('DUPLICATE_ID');
    court.saveQueue(before);
    for (const {id, session} of asked) await court.refuse(session, id);
  });

  it.each(['APPROVED', 'REJECTED'])('a page copied under another name says nothing: %s', async word => {
    const {id, session} = await court.asks(0);
    const page = read(court.home, pagePath(id)).replace('**Decision:** <!--', `**Decision:** ${word} <!--`);
    put(court.home, {[pagePath(`${id}-copy`)]: page});
    await court.told(`${id}-copy.approval.md`);
    rmSync(join(court.home, pagePath(`${id}-copy`)));
    await until(
      () => read(court.home, 'NEEDS_YOU.md'),
      text => !text.includes(`${id}-copy`),
    );
    await court.refuse(session, id);
  });

  it('the page of another request in its place decides nothing', async () => {
    const [mild, wild] = [await court.asks(0), await court.asks(0)];
    const page = read(court.home, pagePath(wild.id)).replaceAll(wild.id, mild.id);
    put(court.home, {[pagePath(mild.id)]: approve(page)});
    await court.told(`approval ${mild.id}: `);
    await court.refuse(mild.session, mild.id);
    await court.refuse(wild.session, wild.id);
  });
});

describe('expired', () => {
  const late = {expires: '2025-01-02T00:00:00.000Z', created: '2025-01-01T00:00:00.000Z'};
  const inTime = '2025-01-01T12:00:00.000Z';
  /** The page is known to say yes before the time is over: the box in doubt keeps it from being taken until then. */
  const decideLateOnPage = async (id: string, at?: string) => {
    decideInQueue(court.home, id, '/');
    await cleanHead();
    decideOnPage(court.home, id, {decision: 'APPROVED', by: 'Ada', ...(at && {at})});
    await court.told(`approval ${id}: its box`);
    decideInQueue(court.home, id, '_', late);
  };
  const tooLate = [
    ['does not say when', undefined],
    ['is from after it', '2025-01-02T00:00:01.000Z'],
    ['is from before it was asked', '2024-12-31T00:00:00.000Z'],
    ['is from a day to come', '2999-01-01T00:00:00.000Z'],
  ] as const;

  it.each(tooLate)('a tick that %s does not count', async (_, at) => {
    const {id, session} = await court.asks(0);
    decideInQueue(court.home, id, 'x', {...late, ...(at && {approved_at: at})});
    expect(await court.results(session)).toMatchObject([{code: 'EXPIRED'}]);
    await whenItem(court.home, id, ({status, task}) => status === 'expired' && task.box === '-');
    decideInQueue(court.home, id, 'x', {approved_at: inTime});
  });

  it.each(tooLate)('a yes on the page that %s does not count', async (_, at) => {
    const {id, session} = await court.asks(0);
    await decideLateOnPage(id, at);
    expect(await court.results(session)).toMatchObject([{code: 'EXPIRED'}]);
    await whenItem(court.home, id, ({status, task}) => status === 'expired' && task.box === '-');
    await until(() => pagesIn(court.home, 'rejected').includes(id), Boolean);
  });

  it('a yes on the page in time counts, though it is seen later', async () => {
    const {id, session, runs} = await court.asks(1);
    await decideLateOnPage(id, inTime);
    expect(await court.results(session)).toMatchObject([{success: true}]);
    expect(runs()).toBe(1);
    await whenItem(court.home, id, ({at, outcome}) => at === inTime && outcome !== undefined);
  });

  it('a tick in time counts, though it is seen later', async () => {
    const {id, session, runs} = await court.asks(1);
    decideInQueue(court.home, id, 'x', {...late, approved_at: '2025-01-01T12:00:00.000Z'});
    expect(await court.results(session)).toMatchObject([{success: true}]);
    expect(runs()).toBe(1);
  });

  it('a tick that does not say when counts if it was saved in time', async () => {
    const {id, session, runs} = await court.asks(1);
    const queue = join(court.home, APPROVALS_FILE);
    const before = read(court.home, APPROVALS_FILE);
    const item = before.slice(before.indexOf(`id: ${id}`));
    const dated = item
      .replace(/expires: .*/, `expires: ${late.expires}`)
      .replace(/created: .*/, `created: ${late.created}`);
    const title = before.slice(0, before.indexOf(`id: ${id}`));
    const at = title.lastIndexOf('[_]');
    writeFileSync(`${queue}.tmp`, `${title.slice(0, at)}[x]${title.slice(at + 3)}${dated}`);
    utimesSync(`${queue}.tmp`, new Date(late.created), new Date('2025-01-01T12:00:00.000Z'));
    renameSync(`${queue}.tmp`, queue);
    expect(await court.results(session)).toMatchObject([{success: true}]);
    expect(runs()).toBe(1);
    expect(await whenItem(court.home, id, ({outcome}) => outcome !== undefined)).toMatchObject({
      at: '2025-01-01T12:00:00.000Z',
    });
  });

  it('a tick from a day to come is told, and counts once it is mended', async () => {
    const {id, session, runs} = await court.asks(1);
    decideInQueue(court.home, id, 'x', {approved_at: '2999-01-01T00:00:00.000Z'});
    await court.told(`approval ${id}: its approval time 2999-01-01T00:00:00.000Z is in the future`);
    expect(runs()).toBe(0);
    decideInQueue(court.home, id, 'x', {approved_at: undefined});
    expect(await court.results(session)).toMatchObject([{success: true}]);
  });

  it('nobody ticks: it ends by itself, whatever the page says then', async () => {
    const {id, session} = await court.asks(0);
    decideInQueue(court.home, id, '_', late);
    expect(await court.results(session)).toMatchObject([{code: 'EXPIRED'}]);
    await until(() => existsSync(join(court.home, pagePath(id, 'rejected'))), Boolean);
  });
});

describe('contradictory', () => {
  it.each([
    ['yes in the queue, no on the page', 'x', 'REJECTED', ''],
    ['no in the queue, yes on the page', '-', 'APPROVED', ''],
    ['yes in the queue, no on a page that may be half saved', 'x', 'REJECTED', 'cut'],
  ] as const)('%s, at one moment, is no', async (_, box, decision, cut) => {
    const {id, session} = await court.asks(0);
    court.atOnce(() => {
      decideInQueue(court.home, id, box);
      decideOnPage(court.home, id, {decision});
      if (cut) court.changePage(id, text => text.trimEnd());
    });
    expect(await court.results(session)).toMatchObject([{code: 'REJECTED'}]);
  });

  it.each([
    ['no', '-'],
    ['open', '_'],
  ] as const)('yes that was turned to %s before it began does not run', async (_, box) => {
    const [first, second] = [court.canary(1), court.canary(0)];
    const session = court.calling([command(first.line), command(second.line)]);
    const [one, two] = await court.asked(session, 'call0', 'call1');
    decideInQueue(court.home, two?.id, 'x');
    await whenItem(court.home, two?.id, ({status}) => status === 'approved');
    decideInQueue(court.home, two?.id, box);
    await whenItem(court.home, two?.id, ({status}) => status !== 'approved');
    const folder = box === '-' ? 'rejected' : 'pending';
    await until(
      () =>
        (['pending', 'approved', 'rejected'] as const).filter(each =>
          pagesIn(court.home, each).includes(two?.id ?? ''),
        ),
      folders => folders.join() === folder,
    );
    expect(pageOf(court.home, two?.id, folder).review?.decision).toBe(box === '-' ? 'rejected' : undefined);
    decideInQueue(court.home, one?.id, 'x');
    await whenItem(court.home, one?.id, ({outcome}) => outcome !== undefined);
    if (box === '_') decideInQueue(court.home, two?.id, '-');
    expect(await court.results(session)).toMatchObject([{success: true}, {code: 'REJECTED'}]);
  });

  it('yes that was turned to no on its page before it began does not run, also if the daemon was down then', async () => {
    for (const down of [false, true]) {
      const [first, second] = [court.canary(1), court.canary(0)];
      const session = court.calling([command(first.line), command(second.line)]);
      const [one, two] = await court.asked(session, 'call0', 'call1');
      decideInQueue(court.home, two?.id, 'x');
      await until(() => pagesIn(court.home, 'approved').includes(two?.id ?? ''), Boolean);
      const turn = () => {
        const path = join(court.home, pagePath(two?.id, 'approved'));
        const text = read(court.home, pagePath(two?.id, 'approved')).replace(
          '**Decision:** APPROVED',
          '**Decision:** REJECTED',
        );
        writeFileSync(path, `${text}**Reason:** changed my mind\n`);
      };
      if (down)
        court.atOnce(() => {
          turn();
          decideInQueue(court.home, one?.id, 'x');
        });
      else {
        turn();
        await whenItem(court.home, two?.id, ({status}) => status === 'rejected');
        decideInQueue(court.home, one?.id, 'x');
      }
      const results = await court.results(session);
      expect(results).toMatchObject([{success: true}, {code: 'REJECTED'}]);
      expect(results[1]?.error).toContain('changed my mind');
    }
  });

  it('yes that its page came to say unclearly before it began waits until it is clear', async () => {
    const [first, second] = [court.canary(1), court.canary(1)];
    const session = court.calling([command(first.line), command(second.line)]);
    const [one, two] = await court.asked(session, 'call0', 'call1');
    decideInQueue(court.home, two?.id, 'x');
    await until(() => pagesIn(court.home, 'approved').includes(two?.id ?? ''), Boolean);
    const path = join(court.home, pagePath(two?.id, 'approved'));
    const text = read(court.home, pagePath(two?.id, 'approved'));
    writeFileSync(path, text.replace('**Decision:** APPROVED', '**Decision:** APPROVED? or rather not'));
    decideInQueue(court.home, one?.id, 'x');
    await court.told(`approval ${two?.id}: `);
    expect(second.runs()).toBe(0);
    writeFileSync(path, text);
    expect(await court.results(session)).toMatchObject([{success: true}, {success: true}]);
    await whenItem(court.home, two?.id, ({outcome}) => outcome !== undefined);
  });

  it.each(['queue', 'page'])('yes in the %s that could not be taken yet, and was taken back, is none', async where => {
    const {id, session} = await court.asks(0);
    const open = where === 'queue' ? court.queue : read(court.home, pagePath(id));
    // A page about something else keeps it from being taken.
    const doubt = (text: string) => text.replace(/^digest: .*$/m, 'digest: none');
    court.atOnce(() => {
      if (where === 'page') return decideOnPage(court.home, id, {decision: 'APPROVED'}, doubt);
      court.changePage(id, doubt);
      decideInQueue(court.home, id, 'x');
    });
    await court.told(`approval ${id}: `);
    if (where === 'queue') court.saveQueue(open);
    else court.changePage(id, () => open);
    await until(
      () => read(court.home, 'NEEDS_YOU.md'),
      text => !text.includes(`approval ${id}: `),
    );
    await court.refuse(session, id);
  });

  it('no after it began only informs', async () => {
    const {line, runs} = court.canary(1);
    const session = court.calling([command(`echo > begun; until [ -e go ]; do sleep 0.02; done; ${line}`)]);
    const {id} = await askedBy(court.home, session);
    decideInQueue(court.home, id, 'x');
    await until(() => existsSync(court.inWorkspace('begun')), Boolean);
    decideInQueue(court.home, id, '-');
    await clean(court.home);
    writeFileSync(court.inWorkspace('go'), '');
    expect(await court.results(session)).toMatchObject([{success: true}]);
    expect(runs()).toBe(1);
    const done = await whenItem(court.home, id, ({outcome}) => outcome !== undefined);
    expect(done.outcome).toBe('done, exit code 0');
    expect(field(done, 'executed_at')).toBeDefined();
    expect(sessionOf(court.home, session).header?.status).toBe('sleeping');
  });
});
