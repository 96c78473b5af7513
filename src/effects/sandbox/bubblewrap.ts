import {spawn} from 'node:child_process';
import {statSync} from 'node:fs';
import {join} from 'node:path';
import {haveCopies} from './devices.ts';
import {systemPath} from './environment.ts';
import {signal} from './processes.ts';

export interface Bubblewrap {
  path: string;
  version: string;
  /** Whether it can forbid nested user namespaces: since 0.8, and not if installed setuid. */
  disableUserns: boolean;
  /** Whether device copies exist for programs confined as root (`devices.ts`). */
  deviceCopies: boolean;
}

/** Bubblewrap is installed, but unusable. */
export interface NoBubblewrap {
  problem: string;
}

let known: Promise<Bubblewrap | NoBubblewrap | undefined> | undefined;

/** Undefined: not installed. A usable one is cached; otherwise the next call searches again. */
export async function findBubblewrap(): Promise<Bubblewrap | NoBubblewrap | undefined> {
  const looking = known ?? look();
  known = looking;
  const found = await looking;
  if ((!found || 'problem' in found) && known === looking) known = undefined;
  return found;
}

/** Candidate paths: on the system path, unless AGENTDIR_BWRAP names one. */
function places(): string[] {
  const named = process.env.AGENTDIR_BWRAP;
  return named ? [named] : systemPath.map(folder => join(folder, 'bwrap'));
}

async function look(): Promise<Bubblewrap | NoBubblewrap | undefined> {
  let second: NoBubblewrap | undefined;
  for (const path of places()) {
    const stat = statSync(path, {throwIfNoEntry: false});
    if (!stat?.isFile()) continue;
    const version = await askVersion(path);
    if (typeof version !== 'string') {
      second ??= version;
      continue;
    }
    const [major = 0, minor = 0] = version.split('.').map(Number);
    return {
      path,
      version,
      disableUserns: (major > 0 || minor >= 8) && (stat.mode & 0o4000) === 0,
      deviceCopies: await haveCopies(),
    };
  }
  return second;
}

const patienceMs = 6000;

/** Kill and give up on a program that does not answer within `patienceMs`. */
function askVersion(path: string): Promise<string | NoBubblewrap> {
  return new Promise(resolve => {
    const child = spawn(path, ['--version'], {env: {}, detached: true, stdio: ['ignore', 'pipe', 'ignore']});
    let said = '';
    const timer = setTimeout(() => {
      if (child.pid !== undefined) signal(-child.pid, 'SIGKILL');
      child.stdout.destroy();
      resolve({problem: `${path} --version does not answer`});
    }, patienceMs);
    const over = (answer: string | NoBubblewrap): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    child.stdout.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('latin1')).slice(0, 1000);
    });
    child.on('error', error => over({problem: `${path} cannot be started: ${error.message}`}));
    child.on('close', code => {
      const version = /\d+(\.\d+)*/.exec(said)?.[0];
      over(code === 0 && version !== undefined ? version : {problem: `${path} --version tells no version`});
    });
  });
}
