import {existsSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {APPROVALS_FILE, type ApprovalItem} from '../../src/formats/approval/approval-item.ts';
import {updateTasks} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {thorough, until} from '../cli/run.ts';
import {askedBy, decideOnPage, itemsOf, pagesIn, whenItem} from './deciding.ts';
import {openHouse} from './house.ts';
import {committed, read} from './serve.ts';
import {atRest, begin, whenIt} from './talk.ts';
import {installed, type Terminal, terminal} from './terminal.ts';

const AGENT = 'id: talker\ntype: talker\nsystem_prompt: You ask.\ncapabilities: [execute_command]\n';
const house = openHouse(() => ({
  'templates/talker.agent.yaml': AGENT,
  'allowlist.yaml': 'version: 1\n',
  // No limit on cost: a model without a price would be a problem.
  'agentdir.yaml': 'format: 1\n',
}));

let count = 0;

/** So many sessions, each waiting for a command that counts its runs to be approved. */
async function ask(many: number): Promise<ApprovalItem[]> {
  const ids = Array.from({length: many}, () => `asks${++count}`);
  for (const id of ids) {
    const call = {id: 'c', name: 'execute_command', arguments: {command: `mktemp ran-${id}.XXXXXX`}};
    house.stage.parts.set(id, (_, nth) => (nth > 0 ? {text: 'done'} : {calls: [call]}));
    begin(house.home, id, `${id} please`);
  }
  return Promise.all(ids.map(id => askedBy(house.home, id)));
}

const runsOf = ({session}: ApprovalItem) =>
  readdirSync(join(house.home, 'workspaces/talker')).filter(name => name.startsWith(`ran-${session}.`)).length;
const idsOf = (items: readonly ApprovalItem[]) => items.map(({id}) => id);

/** Decided on its page, and done. */
async function decide(item: ApprovalItem, decision: 'APPROVED' | 'REJECTED'): Promise<void> {
  decideOnPage(house.home, item.id, {decision});
  await whenIt(house.home, item.session ?? '', atRest);
  await whenItem(house.home, item.id, ({status, outcome}) => status === 'rejected' || outcome !== undefined);
}

/** What is on disk is in git, nothing was set aside, and nobody was told of trouble. */
async function expectMerged(merges = 1): Promise<void> {
  await committed(house.home, APPROVALS_FILE, () => true);
  expect(existsSync(join(house.home, 'conflicts'))).toBe(false);
  const events = house.daemon.events.splice(0);
  expect(events.filter(({event}) => ['problem', 'conflict', 'trouble'].includes(event))).toEqual([]);
  expect(events.filter(({event, path}) => event === 'merged' && path === APPROVALS_FILE).length).toBe(merges);
}

/** How a person does it in one editor and another; lines and columns count from 1. */
interface Editor {
  open: (path: string) => Promise<Terminal>;
  tick: (at: Terminal, line: number, column: number) => void;
  saveStale: (at: Terminal) => Promise<void>;
  quit: (at: Terminal) => void;
}

const editors: Record<'vim' | 'nano', Editor> = {
  vim: {
    open: async path => {
      const at = terminal(house.home, `vim -u NONE -N -i NONE ${path}`);
      await at.shows(/approvals\.task\.md"/);
      return at;
    },
    tick: (at, line, column) => at.type(`:${line}\r${column}|rx`),
    saveStale: async at => {
      at.type(':w!\r');
      await at.shows(/WARNING: The file has been changed since reading it!!!/);
      at.type('y');
      await at.shows(/\d+B written/);
      at.type('\r');
    },
    quit: at => at.type(':q!\r'),
  },
  nano: {
    open: async path => {
      const at = terminal(house.home, `nano --ignorercfiles --nohelp ${path}`);
      await at.shows(/\[ Read \d+ lines? \]/);
      return at;
    },
    tick: (at, line, column) => at.type(`\u001f${line},${column}\r\u0004x`),
    saveStale: async at => {
      at.type('\u000f');
      await at.shows(/Write/);
      at.type('\r');
      await at.shows(/continue saving/);
      at.type('y');
      await at.shows(/\[ Wrote \d+ lines? \]/);
    },
    quit: at => at.type('\u0018'),
  },
};

const columnOf = ({task}: ApprovalItem) => task.boxStart - task.start + 2;

describe.each(thorough ? (['vim', 'nano'] as const) : (['vim'] as const))('%s left open over the queue', name => {
  const missing = [name, 'script'].find(needed => !installed(needed));
  if (missing) {
    it.skip(`not tested: ${missing} is not installed`, () => {});
    return;
  }
  const editor = editors[name];

  it('while items are added and others decided, then a tick is saved: both survive, and it runs once', async () => {
    const asked = await ask(3);
    const at = await editor.open(APPROVALS_FILE);
    const [mine, other, third] = asked.map(({id}) => itemsOf(house.home).find(item => item.id === id));
    if (!mine || !other || !third) throw new Error('not asked');
    house.daemon.events.splice(0);
    const added = await ask(2);
    await decide(other, 'APPROVED');
    await decide(third, 'REJECTED');
    editor.tick(at, mine.task.line, columnOf(mine));
    await editor.saveStale(at);
    editor.quit(at);
    await at.exited;
    await whenIt(house.home, mine.session ?? '', atRest);
    await whenItem(house.home, mine.id, ({outcome}) => outcome === 'done, exit code 0');
    expect([mine, other, third].map(runsOf)).toEqual([1, 1, 0]);
    const states = new Map(itemsOf(house.home).map(item => [item.id, `${item.status} ${item.decision}`]));
    const of = (items: readonly ApprovalItem[]) => items.map(({id}) => states.get(id));
    expect(of([mine, other, third])).toEqual(['approved approved', 'approved approved', 'rejected rejected']);
    expect(of(added)).toEqual(['pending undefined', 'pending undefined']);
    const pages = () => pagesIn(house.home, 'pending').sort().join();
    await until(pages, now => now === idsOf(added).sort().join());
    await expectMerged();
    for (const item of added) await decide(item, 'REJECTED');
  });
});

describe.skipIf(!installed('vim') || !installed('script'))('vim, the other way round', () => {
  it('prose, another order and a decided item that is removed are kept, beside what the daemon wrote', async () => {
    const asked = idsOf(await ask(3));
    // As they stand there, whoever was first.
    const [done, first, second] = itemsOf(house.home).filter(({id}) => asked.includes(id));
    if (!done || !first || !second) throw new Error('not asked');
    await decide(done, 'APPROVED');
    const at = await editors.vim.open(APPROVALS_FILE);
    const [a, b, c] = [done, first, second].map(({id}) => itemsOf(house.home).find(item => item.id === id)?.task);
    if (!a || !b || !c) throw new Error('not there');
    house.daemon.events.splice(0);
    const lines = (task: typeof a) =>
      read(house.home, APPROVALS_FILE).slice(task.start, task.end).trimEnd().split('\n').length;
    // From below: the one in the middle goes to the end, the decided one away, a note to the top.
    at.type(`:${b.line},${b.line + lines(b) - 1}m$\r:${a.line},${a.line + lines(a) - 1}d\r`);
    at.type(':set paste\r:1\roMind the second one.\u001b');
    const [late] = await ask(1);
    await decide(second, 'REJECTED');
    await editors.vim.saveStale(at);
    editors.vim.quit(at);
    await at.exited;
    const text = await committed(house.home, APPROVALS_FILE, now => now.includes('Mind the second one.'));
    const ids = idsOf(itemsOf(house.home));
    expect(ids).not.toContain(done.id);
    expect(ids.filter(id => [first.id, second.id, late?.id].includes(id)).sort()).toEqual(
      [first.id, second.id, late?.id].sort(),
    );
    expect(ids.indexOf(first.id)).toBeGreaterThan(ids.indexOf(second.id));
    expect(text.split('\n')[1]).toBe('Mind the second one.');
    await whenItem(house.home, second.id, ({status}) => status === 'rejected');
    await expectMerged();
    for (const item of [first, late]) if (item) await decide(item, 'REJECTED');
  });
});

describe.runIf(thorough)('a buffer from long ago', () => {
  it('is merged however much was decided since, and a tick in it counts', async () => {
    const [mine, ...others] = await ask(12);
    const before = read(house.home, APPROVALS_FILE);
    house.daemon.events.splice(0);
    for (const other of others) await decide(other, 'APPROVED');
    const file = parseTasks(before);
    const item = itemsOf(house.home).find(({id}) => id === mine?.id);
    const task = file.tasks.find(({fields}) => fields.some(({key, value}) => key === 'id' && value === mine?.id));
    if (!mine || !item || !task) throw new Error('not asked');
    writeFileSync(join(house.home, APPROVALS_FILE), updateTasks(file, [[task, {box: 'x'}]]));
    await whenIt(house.home, mine.session ?? '', atRest);
    await whenItem(house.home, mine.id, ({outcome}) => outcome === 'done, exit code 0');
    for (const each of [mine, ...others]) expect(runsOf(each)).toBe(1);
    const own = itemsOf(house.home).filter(({id}) => idsOf(others).includes(id));
    expect(own.map(({status, decision, outcome}) => [status, decision, outcome])).toEqual(
      others.map(() => ['approved', 'approved', 'done, exit code 0']),
    );
    await expectMerged();
  });
});
