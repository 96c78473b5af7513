import {existsSync, mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import {expect, it} from 'vitest';
import {appendLines} from '../../src/home/append-line.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {lockPath} from '../../src/home/save.ts';
import {temporary} from '../cli/run.ts';

const PATH = 'inbox/x.jsonl';

/** It has the lock, and with the next turn the file. */
async function opened(home: string): Promise<void> {
  while (!existsSync(join(home, lockPath(PATH)))) await turn();
  await turn();
}

it('a file that an editor replaces just then: the line is in the new one', async () => {
  const home = temporary();
  const place = join(home, PATH);
  mkdirSync(join(home, 'inbox'));
  // The line without an end is waited for: that is when the editor saves.
  writeFileSync(place, '{"text": "half');
  const done = appendLines(nodeDisk(home), PATH, '{"text": "mine"}\n');
  await opened(home);
  writeFileSync(join(home, 'saved'), '{"text": "whole"}\n');
  renameSync(join(home, 'saved'), place);
  await done;
  expect(readFileSync(place, 'utf8')).toBe('{"text": "whole"}\n{"text": "mine"}\n');
});

it('one that is moved away in its folder has the line, and only that one', async () => {
  const home = temporary();
  const place = join(home, PATH);
  mkdirSync(join(home, 'inbox'));
  writeFileSync(place, 'half');
  const done = appendLines(nodeDisk(home), PATH, 'mine\n');
  await opened(home);
  renameSync(place, `${place}.1`);
  await done;
  expect([readFileSync(`${place}.1`, 'utf8'), existsSync(place)]).toEqual(['half\nmine\n', false]);
});
