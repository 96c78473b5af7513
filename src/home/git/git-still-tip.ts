import {setTimeout as sleep} from 'node:timers/promises';
import {git} from './git.ts';
import {resolveHead} from './git-history.ts';
import {UNSEEN_MS} from './git-move-head.ts';
import type {Repository} from './git-repository.ts';

/** Harmful commands end in milliseconds. A longer one has an editor open, and compares HEAD with its earlier value. */
const PATIENCE_MS = 5_000;
const LOOK_MS = 5;

/**
 * Whether HEAD, just moved to `tip`, still contains it after the git commands have ended that may have resolved HEAD before the move.
 * `git reset`, which `git stash` also runs, silently removes commits made since it resolved HEAD, and `git checkout -b` leaves them
 * behind. No lock prevents that, because they hold none while they resolve HEAD.
 */
export async function isStillTip(repository: Repository, tip: string): Promise<boolean> {
  const {processes, top} = repository;
  if (!processes.visible) await sleep(UNSEEN_MS);
  const end = performance.now() + PATIENCE_MS;
  let pids = [...processes.running().keys()];
  while (pids.length > 0 && performance.now() < end) {
    await sleep(LOOK_MS);
    const running = processes.running();
    pids = pids.filter(pid => running.has(pid));
  }
  const {commit} = await resolveHead(repository);
  if (commit === undefined || commit === tip) return commit === tip;
  return (await git(top, ['merge-base', '--is-ancestor', tip, commit])).code === 0;
}
