import {describe, expect, it} from 'vitest';
import {linesDelivered} from '../../src/agents/inbox/lines-found.ts';
import {LinesRead} from '../../src/agents/state/lines-read.ts';
import {shortHash} from '../../src/formats/inbox-message.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {put, temporary} from '../cli/run.ts';

describe('lines that were delivered', () => {
  it('are all found, however many they are', async () => {
    const home = temporary();
    const hashes = Array.from({length: 100_001}, (_, i) => shortHash(`${i}`));
    const ids = hashes.map((hash, i) => `    delivery: inbox/x.jsonl@${i % 2 ? 2 : 1}:${i}:${hash}\n`);
    const text = `agent_id: a\nmessages:\n${ids.map(id => `  - role: user\n${id}`).join('')}`;
    put(home, {'sessions/s.session.yaml': text});
    const {lines, last} = await linesDelivered(nodeDisk(home), 'x.jsonl', {since: 1});
    expect(last).toBe(2);
    expect(hashes.every(hash => lines.takeOne(hash))).toBe(true);
    expect(lines.takeOne(hashes[0] ?? '')).toBe(false);
    expect((await linesDelivered(nodeDisk(home), 'x.jsonl', {since: 2})).lines.length).toBe(50_000);
    expect((await linesDelivered(nodeDisk(home), 'y.jsonl', {since: 1, as: 'x.jsonl@1'})).lines.length).toBe(50_001);
  });

  it('are counted, and remembered up to a number', () => {
    const some = new LinesRead(3);
    for (const line of ['a', 'a', 'b']) some.add(line);
    const copy = some.copy();
    const one = new LinesRead();
    one.add('a');
    copy.takeAll(one);
    expect([copy.takeOne('a'), copy.takeOne('a'), some.has('a')]).toEqual([true, false, true]);
    expect(some.copy(2).incomplete).toBe(true);
    some.add('c');
    expect([some.incomplete, some.has('a')]).toEqual([true, false]);
  });
});
