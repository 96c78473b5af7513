import {setTimeout as sleep} from 'node:timers/promises';
import {git} from './git.ts';
import {resolveHead} from './git-history.ts';
import {UNSEEN_MS} from './git-move-head.ts';
import type {Repository} from './git-repository.ts';

/** Those that do harm are over in milliseconds; one that lasts has an editor open, and compares HEAD with what it was. */
const PATIENCE_MS = 5_000;
const LOOK_MS = 5;

/**
 * Whether HEAD, just moved to `tip`, still holds it once the commands are over that may have resolved HEAD before. `git
 * reset`, which `git stash` runs as well, compares HEAD with what it is at the end, not with what it was at the
 * beginning: without a word it takes out of HEAD what was committed in between. `git checkout -b` leaves it behind. No
 * lock keeps them from it, for they hold none while they resolve HEAD. A command that is not here any more now has
 * done whatever it does.
 */
export async function isStillTip(repository: Repository, tip: string): Promise<boolean> {
  const {processes, top} = repository;
  if (!processes.visible) await sleep(UNSEEN_MS);
  const end = performance.now() + PATIENCE_MS;
  let begun = [...processes.running().keys()];
  while (begun.length > 0 && performance.now() < end) {
    await sleep(LOOK_MS);
    const running = processes.running();
    begun = begun.filter(pid => running.has(pid));
  }
  const {commit} = await resolveHead(repository);
  if (commit === undefined || commit === tip) return commit === tip;
  return (await git(top, ['merge-base', '--is-ancestor', tip, commit])).code === 0;
}
