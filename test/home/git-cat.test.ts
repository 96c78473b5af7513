import {chmodSync, writeFileSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {expect, it} from 'vitest';
import {Cat} from '../../src/home/git/git-cat.ts';
import {temporary} from '../cli/run.ts';

/** A `cat-file --batch` of this script: what git does, without a repository. */
function catOf(script: string): Cat {
  const dir = temporary();
  writeFileSync(join(dir, 'git'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(dir, 'git'), 0o755);
  const environment = () => ({...process.env, PATH: `${dir}${delimiter}${process.env.PATH}`});
  return new Cat(dir, {options: [], environment});
}

it('says that git ended, also if it ended after a close', async () => {
  const cat = catOf('read -r id; read -r next; echo "it broke" >&2; exit 1');
  const asked = cat.body('a');
  cat.close();
  await expect(asked).rejects.toThrow('git cat-file ended: it broke');
});

it('answers what was asked before a close, and what is asked after it', async () => {
  // Each process answers with its own name, after a while.
  const cat = catOf('while read -r id; do sleep 0.2; printf "%s blob 1\\n%s\\n" "$id" "$id"; done');
  const before = [cat.body('a'), cat.body('b')];
  cat.close();
  const after = [cat.body('c'), cat.body('d')];
  const bodies = await Promise.all([...before, ...after]);
  expect(bodies.map(String)).toEqual(['a', 'b', 'c', 'd']);
  cat.close();
});
