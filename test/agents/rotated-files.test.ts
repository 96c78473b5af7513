import {
  appendFileSync,
  copyFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {describe, expect, it} from 'vitest';
import {followInbox} from '../../src/agents/inbox/inbox-follow.ts';
import {compareFiles, finishedFile, isRotatedName, rotatedFiles} from '../../src/agents/inbox/rotated-files.ts';
import {Inboxes} from '../../src/agents/state/inboxes.ts';
import {Schedules} from '../../src/agents/state/schedules.ts';
import {type Cursor, newCursor} from '../../src/formats/cursor-file.ts';
import {shortHash} from '../../src/formats/inbox-message.ts';
import {systemClock} from '../../src/home/disk/clock.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {closeInbox, marksOf, type OpenInbox, openInbox} from '../../src/home/inbox-lines.ts';
import type {HomeFiles} from '../../src/loop/home-files.ts';
import {put, temporary} from '../cli/run.ts';

/** What these use of a daemon. */
function parts(home: string, servedSince: bigint) {
  const schedules = new Schedules({clock: systemClock, settings: async () => ({}), look: () => {}});
  return {files: {disk: nodeDisk(home)} as HomeFiles, inboxes: new Inboxes(servedSince, schedules)};
}

/** Inbox files with these texts, written in this order. */
function homeWith(texts: Record<string, string>) {
  const home = temporary();
  const disk = nodeDisk(home);
  const place = (name: string) => join(home, 'inbox', name);
  for (const [i, [name, text]] of Object.entries(texts).entries()) {
    put(home, {[`inbox/${name}`]: text});
    utimesSync(place(name), 1_700_000_000 + i, 1_700_000_000 + i);
  }
  const inode = (name: string) => `${statSync(place(name), {bigint: true}).ino}`;
  const opened = async <T>(name: string, use: (file: OpenInbox) => Promise<T> | T): Promise<T> => {
    const file = openInbox(disk, `inbox/${name}`);
    if (!file) throw new Error(`${name} is missing`);
    try {
      return await use(file);
    } finally {
      closeInbox(file);
    }
  };
  /** The cursor of a file that is read to its end. */
  const cursorOf = (name: string, generation = 1): Promise<Cursor> =>
    opened(name, ({file, size}) => ({
      ...newCursor(generation),
      ...{inode: inode(name), offset: size, ...marksOf(file, size)},
    }));
  const follow = async (cursor: Cursor | undefined, servedSince = 0n): Promise<Cursor | undefined> => {
    const daemon = parts(home, servedSince);
    const reading = daemon.inboxes.readingOf('inbox/x.jsonl');
    reading.cursor = cursor;
    await opened('x.jsonl', file => followInbox(daemon, reading, file));
    return reading.cursor;
  };
  return {home, disk, place, inode, opened, cursorOf, follow};
}

describe('the rotated files of an inbox', () => {
  it('are listed oldest first, without other files, empty files and originals being compressed', () => {
    const {disk, place} = homeWith({
      'x.jsonl.7': 'a\n',
      'x.jsonl-20261117': 'b\n',
      'x.jsonl.2': 'c\n',
      'x.jsonl.2.gz': 'd',
      'x.jsonl.9': '',
      'x.jsonl.old': 'e\n',
      'x.jsonl.1.jsonl': 'f\n',
      'x.jsonl': 'g\n',
      'x.jsonl.12': 'h\n',
      'x.jsonl.11': 'i\n',
    });
    for (const name of ['x.jsonl.11', 'x.jsonl.12']) utimesSync(place(name), 1_750_000_000, 1_750_000_000);
    const names = rotatedFiles(disk, 'x.jsonl').map(({name}) => name);
    expect(names.slice(0, 3)).toEqual(['x.jsonl.7', 'x.jsonl-20261117', 'x.jsonl.2']);
    expect([...names.slice(3)].sort()).toEqual(['x.jsonl.11', 'x.jsonl.12']);
  });

  it('are told by their names', () => {
    const named = [
      'slack.1.jsonl',
      'slack-20261117.jsonl',
      'slack-2026-11-17T09.jsonl',
      'slack-ops.jsonl',
      'slack.jsonl',
    ];
    expect(named.filter(name => isRotatedName('slack', name))).toEqual(named.slice(0, 3));
  });

  it('are known by inode and content, one to one, also after compression; the others are new', async () => {
    const same = 'same\n';
    const {disk, place, inode, opened, cursorOf} = homeWith({
      'x.jsonl.5': 'five\n',
      'x.jsonl.4': same,
      'x.jsonl.3': same,
      'x.jsonl.2': 'begun\n',
      'x.jsonl': 'now\n',
    });
    const finished = [];
    for (const file of rotatedFiles(disk, 'x.jsonl'))
      if (['x.jsonl.5', 'x.jsonl.4'].includes(file.name)) finished.push((await finishedFile(disk, file)) ?? []);
    const begun = await cursorOf('x.jsonl.2', 2);
    const cursor = {...(await cursorOf('x.jsonl', 3)), rotated: [begun], finished: finished.flat()};
    writeFileSync(place('x.jsonl.5.gz'), gzipSync('five\n'));
    rmSync(place('x.jsonl.5'));
    appendFileSync(place('x.jsonl.2'), 'more\n');
    copyFileSync(place('x.jsonl'), place('x.jsonl.1'));
    const found = await opened('x.jsonl', open => compareFiles(disk, 'x.jsonl', cursor, open, true));
    expect(found.fresh.map(({name}) => name)).toEqual(['x.jsonl.3']);
    expect(found.rotated).toEqual([begun]);
    expect(found.finished.map(each => each.inode).sort()).toEqual([inode('x.jsonl.4'), inode('x.jsonl.5.gz')].sort());
    expect(found.former).toBeUndefined();
  });

  it('are new if they were written while the home was served, as long as there is no cursor', async () => {
    const {inode, follow} = homeWith({'x.jsonl.2': 'two\n', 'x.jsonl.1': 'one\n', 'x.jsonl': 'now\n'});
    const all = await follow(undefined);
    expect(all?.rotated?.map(at => [at.inode, at.generation])).toEqual([
      [inode('x.jsonl.2'), 1],
      [inode('x.jsonl.1'), 2],
    ]);
    expect(all).toMatchObject({inode: inode('x.jsonl'), generation: 3});
    const none = await follow(undefined, 2n ** 62n);
    expect(none).toMatchObject({inode: inode('x.jsonl'), generation: 1});
    expect(none?.finished?.map(at => at.inode)).toEqual([inode('x.jsonl.2'), inode('x.jsonl.1')]);
  });

  it('are old if an earlier version wrote the cursor after them', async () => {
    const {home, place, inode, cursorOf, follow} = homeWith({'x.jsonl.1': 'old\n', 'x.jsonl': 'now\n'});
    put(home, {'state/inbox/x.yaml': 'generation: 2\n'});
    const cursor = await cursorOf('x.jsonl', 2);
    renameSync(place('x.jsonl.1'), place('x.jsonl.2'));
    renameSync(place('x.jsonl'), place('x.jsonl.1'));
    writeFileSync(place('x.jsonl'), 'new\n');
    const next = await follow(cursor);
    expect(next).toMatchObject({inode: inode('x.jsonl'), generation: 3});
    expect(next?.rotated?.map(at => at.inode)).toEqual([inode('x.jsonl.1')]);
    expect(next?.finished?.map(at => at.inode)).toEqual([inode('x.jsonl.2')]);
  });

  it('include a copy that is shorter than what was read, because more lines came before the truncation', async () => {
    const {home, place, inode, cursorOf, follow} = homeWith({'x.jsonl': '{"text":"a"}\n'});
    copyFileSync(place('x.jsonl'), place('x.jsonl.1'));
    appendFileSync(place('x.jsonl'), '{"text":"b"}\n');
    const cursor = {...(await cursorOf('x.jsonl')), finished: []};
    const delivery = `inbox/x.jsonl@1:0:${shortHash('{"text":"a"}')}`;
    put(home, {'sessions/s.session.yaml': `agent_id: a\nmessages:\n  - role: user\n    delivery: ${delivery}\n`});
    truncateSync(place('x.jsonl'));
    const next = await follow(cursor);
    expect(next).toMatchObject({inode: inode('x.jsonl'), generation: 2, offset: 0});
    expect(next?.rotated).toMatchObject([{inode: inode('x.jsonl.1'), generation: 1, offset: 13}]);
  });

  it.each([true, false])(
    'do not include the open file if it is renamed just now; others are known: %s',
    async known => {
      const {home, place, inode, cursorOf} = homeWith({'x.jsonl.2': 'one\n', 'x.jsonl': 'two\n'});
      const daemon = parts(home, 0n);
      const file = openInbox(daemon.files.disk, 'inbox/x.jsonl');
      if (!file) throw new Error('it is there');
      const reading = daemon.inboxes.readingOf('inbox/x.jsonl');
      const before = await cursorOf('x.jsonl.2');
      reading.cursor = known ? {...before, finished: []} : {...newCursor(2), rotated: [before], finished: []};
      const expected = inode('x.jsonl');
      renameSync(place('x.jsonl'), place('x.jsonl.1'));
      expect(await followInbox(daemon, reading, file)).toBe(0);
      closeInbox(file);
      expect(reading.cursor).toMatchObject({inode: expected, generation: 2});
      expect(reading.cursor?.rotated?.map(each => each.inode)).toEqual([before.inode]);
    },
  );
});
