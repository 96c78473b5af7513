import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {moveFile} from '../../src/home/move.ts';
import {temporary} from '../cli/run.ts';

it('a file whose old name cannot be removed stays there, and only there', async () => {
  const home = join(temporary(), 'home');
  mkdirSync(join(home, 'pending'), {recursive: true});
  writeFileSync(join(home, 'pending/a.md'), 'old');
  const disk = nodeDisk(home);
  const moving = {from: 'pending/a.md', expected: Buffer.from('old'), to: 'approved/a.md', bytes: Buffer.from('new')};
  const denied = Object.assign(new Error('EACCES'), {code: 'EACCES'});
  const rename = (from: string, to: string) => {
    if (from === moving.from) throw denied;
    disk.rename(from, to);
  };
  expect(await moveFile({...disk, rename}, moving)).toEqual({failed: denied});
  expect(disk.exists(moving.to)).toBe(false);
  expect(disk.read(moving.from).toString()).toBe('old');
  expect(await moveFile(disk, moving)).toMatchObject({saved: expect.anything()});
  expect(disk.exists(moving.from)).toBe(false);
  expect(disk.read(moving.to).toString()).toBe('new');
});
