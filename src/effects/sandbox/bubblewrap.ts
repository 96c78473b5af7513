import {spawn} from 'node:child_process';
import {statSync} from 'node:fs';
import {join} from 'node:path';
import {haveCopies} from './devices.ts';
import {systemPath} from './environment.ts';
import {signal} from './processes.ts';

/** The bubblewrap of this machine. */
export interface Bubblewrap {
  path: string;
  version: string;
  /** It can forbid further user namespaces inside: from 0.8 on, and not where it is installed setuid. */
  disableUserns: boolean;
  /** There are devices for confined programs of root. */
  deviceCopies: boolean;
}

/** There is one, and it cannot be used: why. */
export interface NoBubblewrap {
  problem: string;
}

let known: Promise<Bubblewrap | NoBubblewrap | undefined> | undefined;

/** Undefined: not installed. One that can be used is known from then on, else it is looked for again at the next call. */
export async function findBubblewrap(): Promise<Bubblewrap | NoBubblewrap | undefined> {
  const looking = known ?? look();
  known = looking;
  const found = await looking;
  if ((!found || 'problem' in found) && known === looking) known = undefined;
  return found;
}

/** Where it may be: on the system's path, unless the person who started us named it. */
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

/** Not waited for any longer than that, whatever it is. */
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
