import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, it} from 'vitest';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {inboxFiles, openNumbered} from '../../src/home/inbox-files.ts';
import {closeInbox, type OpenInbox} from '../../src/home/inbox-lines.ts';
import {temporary, until} from '../cli/run.ts';

it('finds a file of the inbox while all of them are being renamed', async () => {
  const home = join(temporary(), 'folder');
  const inbox = join(home, 'inbox');
  mkdirSync(inbox, {recursive: true});
  const names = ['a.jsonl', ...[1, 2, 3, 4, 5, 6, 7].map(n => `a.jsonl.${n}`)];
  for (const name of names) writeFileSync(join(inbox, name), name);
  const inodes = names.map(name => `${statSync(join(inbox, name), {bigint: true}).ino}`);
  const child = fileURLToPath(new URL('rotate-child.mjs', import.meta.url));
  const rotating = spawn(process.execPath, [child, inbox, `${names.length}`], {stdio: ['pipe', 'inherit', 'inherit']});
  const ended = once(rotating, 'close');
  await until(
    () => `${statSync(join(inbox, 'a.jsonl'), {bigint: true, throwIfNoEntry: false})?.ino}`,
    inode => inodes.indexOf(inode) > 0,
  );
  const seen = {missing: 0, other: 0, moved: 0};
  for (let n = 0; n < 2_000; n++) {
    const nth = n % names.length;
    const found = openNumbered(nodeDisk(home), inodes[nth] ?? '');
    if (!found) seen.missing++;
    else {
      if (textOf(found.file) !== names[nth]) seen.other++;
      if (found.name !== names[nth]) seen.moved++;
      closeInbox(found.file);
    }
    if (n % 50 === 0) await new Promise(resolve => setImmediate(resolve));
  }
  rotating.stdin?.end();
  await ended;
  expect(seen).toEqual({missing: 0, other: 0, moved: expect.any(Number)});
  expect(seen.moved).toBeGreaterThan(0);
  expect(new Set([...inboxFiles(nodeDisk(home)).values()].map(({ino}) => `${ino}`))).toEqual(new Set(inodes));
});

function textOf({file, size}: OpenInbox): string {
  const bytes = Buffer.alloc(size);
  return bytes.toString('utf8', 0, file.read(bytes, 0, size, 0));
}
