// Saves a file of a home over and over, keeping its first line, until its input ends: node save-child.mjs HOME PATH
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {nodeDisk} from '../../dist/home/disk/disk.js';
import {save} from '../../dist/home/save.js';

const [home, path] = process.argv.slice(2);
let over = false;
process.stdin.on('end', () => {
  over = true;
});
process.stdin.resume();
let saves = 0;
while (!over) {
  const expected = readFileSync(join(home, path));
  const [first = ''] = expected.toString().split('\n');
  const result = await save(nodeDisk(home), {
    path,
    expected,
    bytes: Buffer.from(`${first}\nsave ${saves}\n`),
    durable: true,
  });
  if ('failed' in result) throw result.failed;
  if ('saved' in result) {
    saves++;
    result.replaced?.forget();
  }
}
process.stdout.write(`${saves}\n`);
