// Adds changes to a journal until it is killed: node crash-child.mjs DIR FROM TO COUNT_AT_ONCE
import {lstatSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Journal} from '../../dist/home/journal.js';

const [dir, from, to, atOnce] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const journal = await Journal.open(dir, {minGapMs: 5, idleMs: 0});
for (let i = from; i < to; i += atOnce) {
  const added = [];
  for (let k = i; k < Math.min(to, i + atOnce); k++) {
    const path = `memory/${k % 7}.md`;
    const text = `${readFileSync(join(dir, path), 'utf8')}line ${k}\n`;
    writeFileSync(join(dir, path), text);
    const stat = lstatSync(join(dir, path), {bigint: true});
    const change = {path, content: {bytes: Buffer.from(text), mode: '100644'}, stat};
    added.push(journal.add({changes: [change], author: 'human', subject: `line ${k}`, trailers: []}));
  }
  for (const done of await Promise.all(added)) process.stdout.write(`${done.subject}\n`);
}
await journal.close();
