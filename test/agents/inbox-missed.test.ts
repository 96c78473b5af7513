import {appendFileSync, renameSync, rmSync, statSync, utimesSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {followInbox} from '../../src/agents/inbox/inbox-follow.ts';
import {isRotatedName, missedFiles} from '../../src/agents/inbox/inbox-missed.ts';
import {Inboxes} from '../../src/agents/state/inboxes.ts';
import {Schedules} from '../../src/agents/state/schedules.ts';
import {newCursor} from '../../src/formats/cursor-file.ts';
import {shortHash} from '../../src/formats/inbox-message.ts';
import {systemClock} from '../../src/home/disk/clock.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {closeInbox, openInbox} from '../../src/home/inbox-lines.ts';
import type {HomeFiles} from '../../src/loop/home-files.ts';
import {put, temporary} from '../cli/run.ts';

const delivery = (generation: number, line: string) =>
  `  - role: user\n    delivery: inbox/x.jsonl@${generation}:0:${shortHash(line)}\n`;

/** What these use of a daemon. */
function parts(home: string, servedSince: bigint) {
  const schedules = new Schedules({clock: systemClock, settings: async () => ({}), look: () => {}});
  return {files: {disk: nodeDisk(home)} as HomeFiles, inboxes: new Inboxes(servedSince, schedules)};
}

describe('files that had the name of an inbox', () => {
  it('between two looks are found, oldest first, and copies are not', async () => {
    const home = temporary();
    const inode = (name: string) => `${statSync(join(home, 'inbox', name), {bigint: true}).ino}`;
    const names = [
      'x.jsonl.7',
      'x.jsonl.5',
      'x.jsonl.4',
      'x.jsonl-20261117',
      'x.jsonl.gz',
      'x.jsonl.1.jsonl',
      'x.jsonl',
    ];
    for (const name of names) put(home, {[`inbox/${name}`]: `${name}\n`});
    // One is a copy of what was read; of another, some was delivered before a daemon was killed.
    appendFileSync(join(home, 'inbox/x.jsonl.4'), 'old\n');
    appendFileSync(join(home, 'inbox/x.jsonl-20261117'), 'begun\n');
    for (const [i, name] of names.entries())
      utimesSync(join(home, 'inbox', name), 1_800_000_000 + i, 1_800_000_000 + i);
    put(home, {'sessions/s.session.yaml': `agent_id: a\nmessages:\n${delivery(3, 'old')}${delivery(4, 'begun')}`});
    const known = [{...newCursor(3), inode: inode('x.jsonl.7')}];
    const found = await missedFiles(parts(home, 0n), 'x.jsonl', known);
    expect(found.map(({inode: of}) => of)).toEqual(['x.jsonl.5', 'x.jsonl-20261117'].map(inode));
    expect(
      await missedFiles(parts(home, 0n), 'x.jsonl', [{...newCursor(3), inode: inode('x.jsonl-20261117')}]),
    ).toEqual([]);
  });

  it('before the first look are those that were made while the home was served', async () => {
    const home = temporary();
    for (const name of ['x.jsonl.2', 'x.jsonl.1', 'x.jsonl.old', 'y.jsonl.1'])
      put(home, {[`inbox/${name}`]: `${name}\n`});
    const {ino, birthtimeNs, mtimeNs} = statSync(join(home, 'inbox/x.jsonl.1'), {bigint: true});
    const earlier = birthtimeNs < mtimeNs ? birthtimeNs : mtimeNs;
    const found = (since: bigint) =>
      missedFiles(parts(home, since), 'x.jsonl', []).then(all => all.map(({inode}) => inode));
    expect(await found(0n)).toHaveLength(2);
    expect(await found(earlier)).toContain(`${ino}`);
    expect(await found(earlier + 10_000_000_000n)).toEqual([]);
  });

  it('are found by the time of the cursor if the last known file is gone', async () => {
    const home = temporary();
    put(home, {'inbox/x.jsonl.9': 'old\n', 'state/inbox/x.yaml': 'inode: "1"\n'});
    for (const [path, seconds] of [
      ['inbox/x.jsonl.9', 1_600_000_000],
      ['state/inbox/x.yaml', 1_700_000_000],
    ] as const)
      utimesSync(join(home, path), seconds, seconds);
    // Made in this order, and written at the same time. The kernel's clock for files ticks every few milliseconds.
    const made = ['x.jsonl.3', 'x.jsonl.1', 'x.jsonl.4', 'x.jsonl.2'];
    let last = 0n;
    for (const name of made) {
      const path = join(home, 'inbox', name);
      for (let born = last; born <= last; born = statSync(path, {bigint: true}).birthtimeNs) {
        rmSync(path, {force: true});
        put(home, {[`inbox/${name}`]: `${name}\n`});
      }
      last = statSync(path, {bigint: true}).birthtimeNs;
    }
    for (const name of made) utimesSync(join(home, 'inbox', name), 1_900_000_000, 1_900_000_000);
    const gone = [{...newCursor(3), inode: '1'}];
    const found = await missedFiles(parts(home, 0n), 'x.jsonl', gone);
    expect(found.map(({file}) => file)).toEqual(made);
    utimesSync(join(home, 'state/inbox/x.yaml'), 1_950_000_000, 1_950_000_000);
    expect(await missedFiles(parts(home, 0n), 'x.jsonl', gone)).toEqual([]);
  });

  it.each(['', 'x.jsonl.2'])(
    'do not include the one that is open, also if it is renamed just now; read before: "%s"',
    async read => {
      const home = temporary();
      put(home, {'inbox/x.jsonl.2': 'one\n', 'inbox/x.jsonl': 'two\n'});
      const inode = (name: string) => `${statSync(join(home, 'inbox', name), {bigint: true}).ino}`;
      const file = openInbox(nodeDisk(home), 'inbox/x.jsonl');
      if (!file) throw new Error('it is there');
      const {files, inboxes} = parts(home, 0n);
      const reading = inboxes.readingOf('inbox/x.jsonl');
      const before = {...newCursor(1), inode: inode('x.jsonl.2')};
      reading.cursor = read ? before : {...newCursor(2), rotated: [before]};
      renameSync(join(home, 'inbox/x.jsonl'), join(home, 'inbox/x.jsonl.1'));
      expect(await followInbox({files, inboxes}, reading, file)).toBe(0);
      closeInbox(file);
      expect(reading.cursor).toMatchObject({inode: file.inode, generation: 2});
      expect(reading.cursor.rotated?.map(each => each.inode)).toEqual([before.inode]);
    },
  );

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
});
