import {spawn} from 'node:child_process';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {daemonOf, readStatus} from '../../../home/status.ts';

/** A daemon that serves the home for as long as a command needs it. */
export interface OwnDaemon {
  /** Why it ended; undefined while it runs. */
  ended: () => string | undefined;
  stop: () => Promise<void>;
}

const START_MS = 30_000;
const STOP_MS = 15_000;

/** Start a daemon that ends with this process, however it ends. Undefined: another one serves the home by now. */
export async function serveHere(home: string, program: string): Promise<OwnDaemon | undefined> {
  const {AGENTDIR_HOME: _, AGENTDIR_LOG: _log, ...env} = process.env;
  const child = spawn(process.execPath, [program, '--home', home, 'start', '--json'], {
    cwd: home,
    env,
    // Its own process group: Ctrl-C ends this process, and the closed channel tells the daemon.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  let ended: string | undefined;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2_000);
  });
  const end = new Promise<void>(resolve => {
    child.once('error', error => {
      ended = error.message;
      resolve();
    });
    child.once('exit', (code, signal) => {
      ended = errors.trim() || `it ended with ${signal ?? code}`;
      resolve();
    });
  });
  for (const until = performance.now() + START_MS; ended === undefined && performance.now() < until; ) {
    if (readStatus(nodeDisk(home))?.pid === child.pid) break;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  if (ended !== undefined && daemonOf(nodeDisk(home))) return undefined;
  return {
    ended: () => ended,
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await end;
      clearTimeout(timer);
    },
  };
}
