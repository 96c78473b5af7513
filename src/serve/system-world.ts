import {nodeDisk} from '../store/disk.ts';
import {systemGit} from '../store/home-git.ts';
import {systemRandom} from '../store/random.ts';
import {lazySandbox} from './confinement.ts';
import {noticesOf} from './notices.ts';
import {untilSignal} from './signals.ts';
import type {World} from './world.ts';

/** This machine, with the home at this absolute path. */
export function systemWorld(home: string): World {
  return {
    disk: nodeDisk(home),
    random: systemRandom,
    git: systemGit(home),
    sandbox: lazySandbox(home),
    environment: process.env,
    notices: () => noticesOf(home),
    untilStopped: untilSignal,
  };
}
