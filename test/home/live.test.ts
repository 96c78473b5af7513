import {appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {type LiveEvent, LiveOutput, livePath} from '../../src/home/live.ts';
import {followLive, liveSessions, readLive} from '../../src/home/live-read.ts';
import {temporary, until} from '../cli/run.ts';

const events = (home: string, session: string) =>
  readFileSync(livePath(home, session), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as LiveEvent);

const textOf = (list: readonly LiveEvent[]) => list.map(event => (event.event === 'text' ? event.text : '')).join('');

function follow(home: string, filter: {session?: string; agent?: string} = {}) {
  const seen: LiveEvent[] = [];
  const stop = new AbortController();
  const over = followLive(home, filter, event => seen.push(event), stop.signal);
  return {
    seen,
    stop: async () => {
      stop.abort();
      await over;
    },
  };
}

const after = {messages: 1, answers: 0};

describe('live output', () => {
  it('is a line for each event, with deltas brought together, written at the end at the latest', () => {
    const home = temporary();
    const live = new LiveOutput(nodeDisk(home), 's-1', 'planner');
    live.begin('t1', after);
    for (const delta of ['Re', 'dis ', '', 'is up']) live.text(delta);
    live.call('read_file', '{"path":"a"}');
    expect(existsSync(livePath(home, 's-1'))).toBe(false);
    live.end('answered');
    expect(events(home, 's-1').map(({at: _, ...rest}) => rest)).toEqual([
      {agent: 'planner', session: 's-1', turn: 't1', event: 'begin', after},
      {agent: 'planner', session: 's-1', turn: 't1', event: 'text', text: 'Redis is up'},
      {agent: 'planner', session: 's-1', turn: 't1', event: 'call', name: 'read_file', args: '{"path":"a"}'},
      {agent: 'planner', session: 's-1', turn: 't1', event: 'end', how: 'answered'},
    ]);
  });

  it('is written while it comes, and tells of tries and ends', async () => {
    const home = temporary();
    const live = new LiveOutput(nodeDisk(home), 's-1', 'planner');
    live.begin('t1', after);
    live.text('word');
    await until(
      () => existsSync(livePath(home, 's-1')) && textOf(events(home, 's-1')),
      text => text === 'word',
    );
    live.retry('429', '2026-01-01T00:00:00.000Z');
    live.end('failed', 'no key');
    expect(events(home, 's-1').slice(2)).toMatchObject([
      {event: 'retry', why: '429', next: '2026-01-01T00:00:00.000Z'},
      {event: 'end', how: 'failed', why: 'no key'},
    ]);
  });

  it('is replaced by another file once it is large, and a reader misses nothing of either', async () => {
    const home = temporary();
    const reader = follow(home, {session: 's-1'});
    const live = new LiveOutput(nodeDisk(home), 's-1', 'planner');
    const big = 'x'.repeat(100_000);
    const inodes = new Set<number>();
    for (let turn = 0; turn < 12; turn++) {
      live.begin(`t${turn}`, after);
      live.text(big + turn);
      live.end('answered');
      inodes.add(statSync(livePath(home, 's-1')).ino);
      // The reader is behind by some turns now and then.
      if (turn % 2 === 0) await new Promise(setImmediate);
    }
    expect(statSync(livePath(home, 's-1')).size).toBeLessThan(400_000);
    expect(inodes.size).toBeGreaterThan(1);
    await until(
      () => reader.seen.at(-1),
      last => last?.turn === 't11' && last.event === 'end',
    );
    await reader.stop();
    expect(textOf(readLive(home, 's-1'))).toBe(`${big}11`);
  });

  it('cannot be stopped by a disk that takes nothing, and goes on when it does', () => {
    const home = temporary();
    const folder = dirname(livePath(home, 's-1'));
    mkdirSync(dirname(folder), {recursive: true});
    writeFileSync(folder, 'in the way');
    const live = new LiveOutput(nodeDisk(home), 's-1', 'planner');
    live.begin('t1', after);
    live.text('lost');
    live.end('answered');
    rmSync(folder);
    live.begin('t2', after);
    live.text('kept');
    live.end('answered');
    expect(textOf(readLive(home, 's-1'))).toBe('kept');
  });

  it('a line that was torn is skipped, and the next one is whole', () => {
    const home = temporary();
    const first = new LiveOutput(nodeDisk(home), 's-1', 'planner');
    first.begin('t1', after);
    first.text('one');
    first.end('answered');
    appendFileSync(livePath(home, 's-1'), '{"at":"2026-01-01T00:0');
    const second = new LiveOutput(nodeDisk(home), 's-1', 'planner');
    second.begin('t2', after);
    second.text('two');
    second.end('answered');
    expect(readLive(home, 's-1').map(({event, turn}) => `${turn} ${event}`)).toEqual(['t2 begin', 't2 text', 't2 end']);
  });
});

describe('following', () => {
  it('begins with what is under way, then gives what comes, of one agent or session or of all', async () => {
    const home = temporary();
    const done = new LiveOutput(nodeDisk(home), 'done', 'a');
    done.begin('t0', after);
    done.text('old');
    done.end('answered');
    const running = new LiveOutput(nodeDisk(home), 'running', 'a');
    running.begin('t1', after);
    running.text('so far');
    await until(
      () => textOf(readLive(home, 'running')),
      text => text === 'so far',
    );
    const all = follow(home);
    const ofB = follow(home, {agent: 'b'});
    const ofOne = follow(home, {session: 'running'});
    expect(textOf(all.seen)).toBe('so far');
    const other = new LiveOutput(nodeDisk(home), 'new', 'b');
    other.begin('t2', after);
    other.text('hello');
    other.end('answered');
    running.text(', so good');
    running.end('answered');
    for (const {seen, text} of [
      {seen: ofB.seen, text: 'hello'},
      {seen: ofOne.seen, text: 'so far, so good'},
    ])
      await until(
        () => ({text: textOf(seen), last: seen.at(-1)?.event}),
        found => found.text === text && found.last === 'end',
      );
    await until(
      () => all.seen.filter(({event}) => event === 'end').length,
      count => count === 2,
    );
    expect(textOf(all.seen)).toHaveLength('so far, so goodhello'.length);
    expect(liveSessions(home)).toHaveLength(3);
    for (const reader of [all, ofB, ofOne]) await reader.stop();
  });

  it('survives the folder being removed and made again', async () => {
    const home = temporary();
    const reader = follow(home);
    rmSync(join(home, '.agentdir'), {recursive: true, force: true});
    const live = new LiveOutput(nodeDisk(home), 's-1', 'a');
    live.begin('t1', after);
    live.text('here');
    live.end('answered');
    await until(
      () => textOf(reader.seen),
      text => text === 'here',
    );
    await reader.stop();
  });

  it('gives every event once and in order, however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({unit: 'grapheme', minLength: 1, maxLength: 20}), {minLength: 1, maxLength: 8}),
        fc.array(fc.integer({min: 1, max: 40}), {minLength: 1, maxLength: 30}),
        async (texts, cuts) => {
          const home = temporary();
          const source = new LiveOutput(nodeDisk(home), 'source', 'a');
          for (const [turn, text] of texts.entries()) {
            source.begin(String(turn), after);
            source.text(text);
            source.end('answered');
          }
          const bytes = readFileSync(livePath(home, 'source'));
          const reader = follow(home, {session: 'cut'});
          let at = 0;
          for (const [index, cut] of [...cuts, bytes.length].entries()) {
            appendFileSync(livePath(home, 'cut'), bytes.subarray(at, at + cut));
            at += cut;
            if (index % 3 === 0) await new Promise(setImmediate);
          }
          await until(
            () => reader.seen.filter(({event}) => event === 'end').length,
            count => count === texts.length,
          );
          await reader.stop();
          expect(reader.seen).toEqual(events(home, 'source'));
        },
      ),
      {numRuns: 25},
    );
  });
});
