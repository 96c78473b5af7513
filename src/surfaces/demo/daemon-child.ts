import {type ChildProcess, spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import {UserError} from '../../formats/common/errors.ts';
import type {DaemonEvent} from '../../formats/daemon-event.ts';

/** A daemon that ends with this process. */
export interface DaemonChild {
  /** Resolves when it serves. */
  serving: Promise<void>;
  /** Rejects if it ends unexpectedly. */
  lost: Promise<never>;
  stop: () => Promise<void>;
  kill: () => void;
}

/** A daemon stops within ten seconds. */
const STOP_MS = 12_000;

/** Variables to drop: nothing may leave this machine, and no other home is meant. */
const UNWANTED = /^(?:OPENAI_|SLACK_|AGENTDIR_(?:HOME|LOG|CRASH_AT)$|NODE_USE_ENV_PROXY$)/;

export function startDaemon(
  home: string,
  program: string,
  env: Record<string, string>,
  tell: (event: DaemonEvent) => void,
): DaemonChild {
  const own = Object.entries(process.env).filter(([name]) => !UNWANTED.test(name));
  const child = spawn(process.execPath, [program, '--home', home, 'start', '--json'], {
    cwd: home,
    env: {...Object.fromEntries(own), ...env},
    // Its own process group: we handle Ctrl-C. The IPC channel tells it when we exit.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // Silently: a closed pipe (agentdir demo | head) ends us at once.
  const kill = () => void child.kill('SIGTERM');
  process.once('exit', kill);
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4_000);
  });
  const ended = new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('exit', (code, signal) => resolve(errors.trim() || `it ended with ${signal ?? code}`));
  });
  let stopping = false;
  const lost = ended.then<never>(why => {
    if (stopping) return new Promise<never>(() => {});
    throw new UserError(`the demo's daemon ended: ${why}`, undefined, `its home is kept: ${home}`);
  });
  lost.catch(() => {});
  const serving = new Promise<void>(resolve => {
    createInterface({input: child.stdout as NodeJS.ReadableStream}).on('line', line => {
      const event = JSON.parse(line) as DaemonEvent;
      if (event.event === 'serving') resolve();
      tell(event);
    });
  });
  return {
    serving,
    lost,
    async stop() {
      stopping = true;
      await end(child, ended);
      process.off('exit', kill);
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}
