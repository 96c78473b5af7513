import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {moveFile, removeIfUnchanged} from '../../src/home/move.ts';
import {clearAbandoned} from '../../src/home/temporary.ts';
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

it.each(['theirs', 'old'])('a removal that is killed: what was "%s" by then', content => {
  const home = join(temporary(), 'home');
  mkdirSync(join(home, 'pending'), {recursive: true});
  const disk = nodeDisk(home);
  disk.write('pending/a.md', 'old');
  const rename = (from: string, to: string) => {
    // An editor saves between the comparison and the rename.
    disk.write(from, content);
    disk.rename(from, to);
    throw new Error('killed');
  };
  const processes = {...disk.processes, self: () => ({...disk.processes.self(), pid: 4_194_303, began: '1'})};
  expect(() => removeIfUnchanged({...disk, rename, processes}, 'pending/a.md', Buffer.from('old'))).toThrow('killed');
  expect(disk.names('pending')).toEqual([expect.stringMatching(/^\.agentdir-/)]);
  clearAbandoned(disk, 'pending');
  expect(disk.names('pending')).toEqual(content === 'old' ? [] : ['a.md']);
  if (content !== 'old') expect(disk.read('pending/a.md').toString()).toBe(content);
});
