import {crc32} from 'node:zlib';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {changedRanges, withRanges} from '../../src/home/git/changed-ranges.ts';
import {decodeRecord, encodeRecord} from '../../src/home/versions/record.ts';
import {KEPT_MS, type LogStorage, type NewVersion, VersionLog} from '../../src/home/versions/version-log.ts';

/** Segments in memory. `synced`: what a power cut leaves; `room`: bytes until the disk is full. */
class MemoryStorage implements LogStorage {
  readonly files = new Map<string, {bytes: Buffer; synced: Buffer}>();
  room = Number.POSITIVE_INFINITY;
  syncs = 0;

  prepare(): void {}

  list(): string[] {
    return [...this.files.keys()];
  }

  read(name: string, length?: number): Buffer {
    const file = this.files.get(name);
    if (!file) throw new Error('ENOENT');
    return Buffer.from(file.bytes.subarray(0, length));
  }

  create(name: string) {
    const file = {bytes: Buffer.alloc(0), synced: Buffer.alloc(0)};
    this.files.set(name, file);
    return {
      write: (bytes: Buffer, at: number) => {
        const grown = Buffer.alloc(Math.max(file.bytes.length, at + bytes.length));
        if (grown.length - file.bytes.length > this.room) throw new Error('ENOSPC');
        this.room -= grown.length - file.bytes.length;
        file.bytes.copy(grown);
        bytes.copy(grown, at);
        file.bytes = grown;
      },
      sync: async () => {
        const now = Buffer.from(file.bytes);
        await Promise.resolve();
        this.syncs++;
        file.synced = now;
      },
      truncate: (length: number) => {
        file.bytes = Buffer.from(file.bytes.subarray(0, length));
      },
      close: () => {},
    };
  }

  remove(name: string): void {
    this.files.delete(name);
  }

  /** The machine goes down: each file keeps what was synced, and `kept` of what was written after it, torn anywhere. */
  cutPower(kept: number): void {
    for (const file of this.files.values()) {
      const torn = Buffer.from(file.bytes);
      file.synced.copy(torn);
      const changed = [...torn.keys()].filter(i => i >= file.synced.length || file.bytes[i] !== file.synced[i]);
      for (const i of changed.slice(Math.floor(changed.length * kept))) torn[i] = file.synced[i] ?? 0;
      file.bytes = torn;
    }
  }
}

const options = {now: () => 1_000, boot: 'a', checkpoint: 0};
const version = (path: string, text: string | undefined, more: Partial<NewVersion> = {}): NewVersion => ({
  ...{path, author: 'human', subject: 'edited', trailers: [['Cause', 'edit']], mode: '100644', ...more},
  bytes: text === undefined ? undefined : Buffer.from(text),
});
const textsOf = (log: VersionLog, path: string) => [...log.history(path)].map(v => v.bytes()?.toString());

it('changed ranges make the second text of the first', () => {
  const line = fc.constantFrom('a\n', 'a longer line of text, with words in it\n', 'b', '\n', 'status: active\n');
  const text = fc.array(line, {maxLength: 400}).map(lines => Buffer.from(lines.join('')));
  fc.assert(
    fc.property(text, text, text, fc.nat(), (start, middle, end, n) => {
      const shared = Buffer.concat([start, middle, end]);
      for (const edited of [
        Buffer.concat([start, Buffer.from(`${n}`), end]),
        Buffer.concat([Buffer.from(`${n}\n`), start, middle, Buffer.from(`${n}`), end, Buffer.from('more\n')]),
        middle,
      ])
        expect(withRanges(shared, changedRanges(shared, edited)).equals(edited)).toBe(true);
    }),
    {seed: 1},
  );
});

it('a change in the header and one at the end are two short ranges', () => {
  const messages = Array.from({length: 1_000}, (_, i) => `  - role: user\n    content: message ${i}\n`).join('');
  const before = Buffer.from(`session_id: s\nupdated: '1'\nstatus: sleeping\nmessages:\n${messages}`);
  const after = Buffer.from(
    `session_id: s\nupdated: '2'\nwaiting_for: x\nstatus: active\nmessages:\n${messages}  - role: user\n`,
  );
  const ranges = changedRanges(before, after);
  expect(ranges).toHaveLength(2);
  expect(ranges.reduce((sum, {inserted}) => sum + inserted.length, 0)).toBeLessThan(80);
  expect(withRanges(before, ranges).equals(after)).toBe(true);
});

it('records with one replaced range, as older versions wrote them, are read', () => {
  const head = {
    seq: 1,
    time: 1,
    path: 'a',
    author: 'human' as const,
    subject: '',
    trailers: [],
    blob: '',
    mode: '100644' as const,
  };
  const now = encodeRecord({head, change: {ranges: [{at: 2, removed: 1, inserted: Buffer.from('new')}]}});
  const json = Buffer.from(JSON.stringify({head, at: 2, removed: 1}));
  const body = Buffer.concat([Buffer.alloc(4), json, Buffer.from('new')]);
  body.writeUInt32LE(json.length, 0);
  const frame = Buffer.alloc(8);
  frame.writeUInt32LE(body.length, 0);
  frame.writeUInt32LE(crc32(body), 4);
  const old = decodeRecord(Buffer.concat([frame, body]), 0)?.record;
  expect(old).toEqual(decodeRecord(now, 0)?.record);
});

describe('the version log', () => {
  it('gives all versions of a path back, newest first, with author, base and marks', async () => {
    const storage = new MemoryStorage();
    const log = VersionLog.open(storage, options);
    const first = log.append(version('a', 'one\ntwo\n'));
    log.append(version('b', 'other'));
    log.append(version('a', 'one\ntwo\nthree\n', {author: {name: 'bot', email: 'bot@home'}, started: ['call-1']}));
    log.append(version('a', undefined));
    await log.durable();
    const again = VersionLog.open(storage, options);
    expect(textsOf(again, 'a')).toEqual([undefined, 'one\ntwo\nthree\n', 'one\ntwo\n']);
    const [, second] = [...again.history('a')];
    expect(second).toMatchObject({author: {name: 'bot'}, started: ['call-1'], seq: 3});
    expect([...again.unpublished].map(({seq}) => seq)).toEqual([1, 2, 3, 4]);
    expect(first.seq).toBe(1);
  });

  it('forgets what was cancelled, and knows what is placed and published', async () => {
    const storage = new MemoryStorage();
    const log = VersionLog.open(storage, options);
    const kept = log.append(version('a', 'x'.repeat(100)));
    log.placed([kept]);
    const lost = log.append(version('a', `${'x'.repeat(100)}y`));
    log.cancelled(lost);
    const next = log.append(version('a', `${'x'.repeat(100)}z`, {author: {name: 'bot', email: 'bot@home'}}));
    log.publish([kept], 'c0ffee');
    const again = VersionLog.open(storage, options);
    expect(textsOf(again, 'a')).toEqual([`${'x'.repeat(100)}z`, 'x'.repeat(100)]);
    expect([...again.unpublished].map(({seq, placed}) => ({seq, placed}))).toEqual([{seq: next.seq, placed: false}]);
    expect(again.published).toEqual({seq: kept.seq, commit: 'c0ffee'});
    expect(again.recovered.get('a')?.bytes()?.toString()).toBe(`${'x'.repeat(100)}z`);
  });

  it('shares one sync among all who wait meanwhile', async () => {
    const storage = new MemoryStorage();
    const log = VersionLog.open(storage, options);
    await Promise.all(
      Array.from({length: 100}, (_, i) => {
        log.append(version(`f${i}`, 'text'));
        return log.durable();
      }),
    );
    expect(storage.syncs).toBeLessThanOrEqual(2);
  });

  it('after a power cut has everything that was durable, whole, and nothing torn', async () => {
    const step = fc.record({path: fc.constantFrom('a', 'b'), text: fc.string({maxLength: 300}), sync: fc.boolean()});
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, {maxLength: 30}),
        fc.double({min: 0, max: 1, noNaN: true}),
        async (steps, kept) => {
          const storage = new MemoryStorage();
          const log = VersionLog.open(storage, options);
          const written: string[] = [];
          let durable = 0;
          for (const {path, text, sync} of steps) {
            log.append(version(path, text));
            written.push(`${path}:${text}`);
            if (!sync) continue;
            await log.durable();
            durable = written.length;
          }
          storage.cutPower(kept);
          const again = VersionLog.open(storage, options);
          const found = [...again.unpublished].map(v => `${v.path}:${v.bytes()?.toString()}`);
          expect(found.length).toBeGreaterThanOrEqual(durable);
          expect(found).toEqual(written.slice(0, found.length));
          // The log goes on after the last whole record.
          again.append(version('a', 'more'));
          await again.durable();
          const third = VersionLog.open(storage, options);
          expect([...third.unpublished].map(v => v.bytes()?.toString()).at(-1)).toBe('more');
          expect([...third.unpublished].map(({seq}) => seq)).toEqual(
            [...Array(found.length + 1).keys()].map(i => i + 1),
          );
        },
      ),
      {seed: 2, numRuns: 60},
    );
  });

  it('on a full disk says so, loses nothing that was recorded, and goes on when there is room', async () => {
    const storage = new MemoryStorage();
    const log = VersionLog.open(storage, options);
    log.append(version('a', 'one'));
    storage.room = 10;
    // What was written ahead in zeros is room, too.
    expect(() => {
      for (let i = 0; i < 1_000; i++) log.append(version('big', `${i}`.repeat(5_000)));
    }).toThrow('ENOSPC');
    const count = [...log.unpublished].length;
    storage.room = Number.POSITIVE_INFINITY;
    log.append(version('a', 'two'));
    await log.durable();
    const again = VersionLog.open(storage, options);
    expect([...again.unpublished].length).toBe(count + 1);
    expect(textsOf(again, 'a')).toEqual(['two', 'one']);
  });

  it('drops segments only when git and a checkpoint have them and an hour has passed', async () => {
    const storage = new MemoryStorage();
    let now = 0;
    const log = VersionLog.open(storage, {...options, now: () => now});
    const big = 'x'.repeat(1024 * 1024);
    const versions = Array.from({length: 20}, (_, i) => log.append(version('a', `${i}`.repeat(20) + big + i)));
    await log.durable();
    const before = storage.list().length;
    expect(before).toBeGreaterThan(1);
    log.drop(1_000);
    now = 2 * KEPT_MS;
    log.drop(1_000);
    expect(storage.list().length).toBe(before);
    log.publish(versions, 'c');
    log.drop(0);
    expect(storage.list().length).toBe(before);
    log.drop(log.seq);
    expect(storage.list().length).toBe(1);
    const again = VersionLog.open(storage, {...options, checkpoint: log.seq});
    expect(again.seq).toBe(20);
    expect([...again.unpublished]).toEqual([]);
  });

  it('keeps a segment that is followed by one without a head, as a power cut may leave it', async () => {
    const storage = new MemoryStorage();
    const late = {...options, now: () => 2 * KEPT_MS};
    const log = VersionLog.open(storage, late);
    const first = log.append(version('a', 'one'));
    log.publish([first], 'c');
    await log.close();
    storage.create('000002.log').close();
    const again = VersionLog.open(storage, {...late, checkpoint: 1});
    again.append(version('a', 'two'));
    again.drop(2);
    expect(textsOf(again, 'a')).toEqual(['two', 'one']);
  });

  it('tells that the machine was started since', async () => {
    const storage = new MemoryStorage();
    const log = VersionLog.open(storage, options);
    log.append(version('a', 'one'));
    await log.close();
    expect(VersionLog.open(storage, options).rebooted).toBe(false);
    expect(VersionLog.open(storage, {...options, boot: 'b'}).rebooted).toBe(true);
  });
});
