import {spawn} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {setPriority} from 'node:os';
import {join} from 'node:path';
import {crashPoint} from '../../home/disk/crash.ts';
import {ownProcesses} from '../../home/git/git.ts';
import {cleanEnvironment, cleanOptions} from './clean-git.ts';

/** Limits of git gc --auto: loose objects are estimated from one of 256 folders. */
const MOST_LOOSE = 6_700;
const MOST_PACKS = 20;

/** Repack in the background, with low priority, if there are many loose objects or packs. Never prunes. */
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
  // A failed repack changes nothing; the next start tries again.
  child.on('error', () => {});
  child.unref();
  if (!pid) return;
  ownProcesses.add(pid);
  child.on('close', () => ownProcesses.delete(pid));
  try {
    setPriority(pid, 15);
  } catch {
    // The process is gone, or lowering the priority is not allowed.
  }
}

function count(folder: string, name: RegExp): number {
  try {
    return readdirSync(folder).filter(one => name.test(one)).length;
  } catch {
    return 0;
  }
}
