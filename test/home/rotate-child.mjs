// Rotates the files a.jsonl, a.jsonl.1 … of a folder, the last becoming the first, until its input ends: node rotate-child.mjs FOLDER COUNT
import {renameSync} from 'node:fs';
import {join} from 'node:path';

const [folder, count] = [process.argv[2], Number(process.argv[3])];
const name = n => join(folder, n === 0 ? 'a.jsonl' : `a.jsonl.${n}`);
let over = false;
process.stdin.on('end', () => {
  over = true;
});
process.stdin.resume();
while (!over) {
  renameSync(name(count - 1), name(count));
  for (let n = count - 1; n > 0; n--) renameSync(name(n - 1), name(n));
  renameSync(name(count), name(0));
  await new Promise(resolve => setTimeout(resolve, 1));
}
