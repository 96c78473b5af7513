import {existsSync, readdirSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {startOf} from '../../src/home/disk/process-life.ts';
import {agentdir, until} from '../cli/run.ts';
import {calling, command, resultsOf} from './calling.ts';
import {askedBy, decideInQueue, decideOnPage, field, pageOf, whenItem} from './deciding.ts';
import {openHouse} from './house.ts';
import {read, serve} from './serve.ts';
import {pathOf} from './talk.ts';

const AGENT = `id: talker
type: talker
system_prompt: You ask.
capabilities: [execute_command]
`;

const house = openHouse(() => ({'templates/talker.agent.yaml': AGENT, 'allowlist.yaml': 'version: 1\n'}));
const fifoOf = (name: string) => join(house.home, '..', name);
const status = () => JSON.parse(read(house.home, '.agentdir/status.json')) as {unconfined?: string};
const voided = () =>
  existsSync(join(house.home, 'conflicts/void')) ? readdirSync(join(house.home, 'conflicts/void')) : [];

/** A command on the host that runs until somebody writes into the pipe. */
async function runUntilTold(id: string, fifo: string): Promise<void> {
  // From the workspace: a path that the short title of the request has room for.
  const pipe = `../../../${basename(fifo)}`;
  calling(house, id, [command(`echo $$ > pid; mkfifo ${pipe}; cat ${pipe}`, {sandbox: 'host'})]);
  decideInQueue(house.home, (await askedBy(house.home, id)).id, 'x');
  await until(
    () => existsSync(fifo) && status().unconfined !== undefined,
    running => running,
  );
}

describe('a decision made while a command runs outside the sandbox', () => {
  it('is asked again, and the item, the page, NEEDS_YOU.md and the list say why', async () => {
    calling(house, 'queue', [command('touch queue.txt')]);
    calling(house, 'page', [command('touch page.txt')]);
    const inQueue = await askedBy(house.home, 'queue');
    const onPage = await askedBy(house.home, 'page');
    const fifo = fifoOf('first');
    await runUntilTold('slow', fifo);
    decideOnPage(house.home, onPage.id, {decision: 'APPROVED'});
    decideInQueue(house.home, inQueue.id, 'x');
    const why = /decided while execute_command .*first.* of talker ran .*; decide again/;
    for (const {id} of [inQueue, onPage]) {
      const item = await whenItem(house.home, id, each => field(each, 'again') !== undefined);
      expect(item).toMatchObject({decision: undefined, status: 'pending'});
      expect(field(item, 'again')).toMatch(why);
    }
    expect(pageOf(house.home, onPage.id)).toMatchObject({
      meta: {again: expect.stringMatching(why)},
      review: {decision: undefined},
      problems: [],
    });
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.split('decide again').length - 1 === 2,
    );
    const {stdout} = await agentdir(house.home, ['approvals']);
    expect(stdout.split('decide again').length - 1).toBe(2);
    expect(JSON.parse((await agentdir(house.home, ['approvals', '--json'])).stdout)).toMatchObject([
      {again: expect.stringMatching(why)},
      {again: expect.stringMatching(why)},
    ]);
    writeFileSync(fifo, 'go\n');
    expect(await resultsOf(house, 'slow')).toMatchObject([{success: true}]);
    decideInQueue(house.home, inQueue.id, 'x');
    decideOnPage(house.home, onPage.id, {decision: 'APPROVED'});
    for (const [session, {id}] of [
      ['queue', inQueue],
      ['page', onPage],
    ] as const) {
      expect(await resultsOf(house, session)).toMatchObject([{success: true}]);
      const done = await whenItem(house.home, id, ({outcome}) => outcome !== undefined);
      expect(field(done, 'again')).toBeUndefined();
    }
  });

  it('counts as soon as the command has ended, although its result is not written yet', async () => {
    calling(house, 'early', [command('touch early.txt')]);
    const {id} = await askedBy(house.home, 'early');
    const before = voided();
    // Comparing so many files takes a while, after the command has ended.
    const fill = 'mkdir -p many; cd many; for i in $(seq 1 6000); do : > f$i; done; cd ..';
    calling(house, 'filling', [command(`${fill}; echo done > filled`, {sandbox: 'host'})]);
    decideInQueue(house.home, (await askedBy(house.home, 'filling')).id, 'x');
    await until(
      () => existsSync(join(house.home, 'workspaces/talker/filled')) && status().unconfined === undefined,
      ended => ended,
    );
    expect(read(house.home, pathOf('filling'))).not.toContain('tool_result');
    decideInQueue(house.home, id, 'x');
    expect(await resultsOf(house, 'early', 60_000)).toMatchObject([{success: true}]);
    expect(voided()).toEqual(before);
  });
});

describe('a decision made after a kill, beside a command that ran outside the sandbox', () => {
  it('is asked again by the next daemon, which ends the command first; from then on decisions count', async () => {
    calling(house, 'killed', [command('touch killed.txt')]);
    const {id} = await askedBy(house.home, 'killed');
    await runUntilTold('left', fifoOf('second'));
    const pid = Number(read(house.home, 'workspaces/talker/pid'));
    await house.daemon.kill();
    expect(startOf(pid)).not.toBe('');
    const refused = await agentdir(house.home, ['approve', id ?? '']);
    expect(refused).toMatchObject({code: 1, stderr: expect.stringContaining('agentdir start')});
    expect(field(await whenItem(house.home, id, () => true), 'approved_by')).toBeUndefined();
    decideInQueue(house.home, id, 'x');
    house.daemon = await serve(house.home, house.stage.env, end => house.ends.push(end));
    // By the time that it serves, the command is gone, and what was decided meanwhile is undone.
    expect(startOf(pid)).toBe('');
    const again = await whenItem(house.home, id, each => field(each, 'again') !== undefined);
    expect(again.decision).toBeUndefined();
    expect(field(again, 'again')).toMatch(
      /decided while execute_command .*second.* of talker, which was interrupted, ran.*; decide again/,
    );
    const before = voided();
    decideInQueue(house.home, id, 'x');
    expect(await resultsOf(house, 'killed')).toMatchObject([{success: true}]);
    expect(voided()).toEqual(before);
    expect(await resultsOf(house, 'left')).toMatchObject([{code: 'INTERRUPTED'}]);
  });

  it('counts once a daemon has ended the command, even if its session is paused and the daemon is killed again', async () => {
    calling(house, 'later', [command('touch later.txt')]);
    const {id} = await askedBy(house.home, 'later');
    await runUntilTold('paused', fifoOf('third'));
    await house.daemon.kill();
    const path = join(house.home, pathOf('paused'));
    writeFileSync(path, read(house.home, pathOf('paused')).replace(/^status: .*$/m, 'status: paused'));
    house.daemon = await serve(house.home, house.stage.env, end => house.ends.push(end));
    await until(
      () => read(house.home, pathOf('paused')),
      text => text.includes('INTERRUPTED'),
    );
    await house.daemon.kill();
    const before = voided();
    decideInQueue(house.home, id, 'x');
    house.daemon = await serve(house.home, house.stage.env, end => house.ends.push(end));
    expect(await resultsOf(house, 'later')).toMatchObject([{success: true}]);
    expect(voided()).toEqual(before);
    expect(read(house.home, pathOf('paused'))).toContain('status: paused');
  });
});
