// node daemon-walk.mjs HOME: `find -printf` as a process, then one stat and one read of each file it found. Milliseconds.
import {execFileSync} from 'node:child_process';
import {readFileSync, statSync} from 'node:fs';

const begun = performance.now();
const args = [process.argv[2], '-path', '*/.git', '-prune', '-o', '-type', 'f', '-printf', '%p\\0'];
const found = execFileSync('find', args, {encoding: 'utf8', maxBuffer: 1e8});
for (const path of found.split('\0').filter(Boolean)) {
  statSync(path);
  readFileSync(path);
}
process.stdout.write(String(performance.now() - begun));
