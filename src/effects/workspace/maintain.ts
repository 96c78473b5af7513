import {spawn} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {setPriority} from 'node:os';
import {join} from 'node:path';
import {crashPoint} from '../../home/disk/crash.ts';
import {ownProcesses} from '../../home/git/git.ts';
import {cleanEnvironment, cleanOptions} from './clean-git.ts';

/** As git gc --auto counts: loose objects by one folder of 256, packs by their number. */
const MOST_LOOSE = 6_700;
const MOST_PACKS = 20;

/** Pack what is loose, if it is much, in a process of low priority that nobody waits for. Nothing is ever pruned. */
export function maintainHistory({gitDir}: {gitDir: string}): void {
  const loose = count(join(gitDir, 'objects/17'), /^[0-9a-f]{38}$/) * 256;
  const packs = count(join(gitDir, 'objects/pack'), /\.pack$/);
  if (loose <= MOST_LOOSE && packs <= MOST_PACKS) return;
  crashPoint('spawn-git');
  const options = packs > MOST_PACKS ? ['-a', '-d', '-l', '-q', '--keep-unreachable'] : ['-d', '-l', '-q'];
  const child = spawn('git', [...cleanOptions, 'repack', ...options], {
    cwd: gitDir,
    env: cleanEnvironment(),
    stdio: 'ignore',
  });
  const {pid} = child;
  // One that fails leaves everything as it was; the next start tries again.
  child.on('error', () => {});
  child.unref();
  if (!pid) return;
  ownProcesses.add(pid);
  child.on('close', () => ownProcesses.delete(pid));
  try {
    setPriority(pid, 15);
  } catch {
    // Gone already, or not allowed: it only takes its turn with the others.
  }
}

function count(folder: string, name: RegExp): number {
  try {
    return readdirSync(folder).filter(one => name.test(one)).length;
  } catch {
    return 0;
  }
}
