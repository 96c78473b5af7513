import {spawn} from 'node:child_process';
import {closeSync, openSync, readFileSync} from 'node:fs';
import {dirname, relative} from 'node:path';
import {exit, UserError} from '../../formats/common/errors.ts';
import {crashPoint} from '../../home/disk/crash.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {type Holder, isRunning} from '../../home/disk/holder.ts';
import {makeFolders} from '../../home/disk/make-folders.ts';
import {daemonOf, logPath, readStatus} from '../../home/status.ts';
import {colors, print, printJson} from '../terminal/output.ts';
import {rotate} from './log-file.ts';

const START_MS = 30_000;
const STOP_MS = 10_000;

export interface BackgroundOptions {
  home: string;
  /** The program to run: bin/main.js. */
  program: string;
  json: boolean;
}

/** Starts a background daemon and waits until it is ready. */
export async function startInBackground({home, program, json}: BackgroundOptions): Promise<number> {
  refuseSecond(home);
  const {pid, log} = await launchDaemon(home, program);
  if (json) printJson({running: true, pid, log});
  else
    print(
      `${colors.green('serving')} ${home} in the background: process ${pid}\n  log: ${log}\n  status: agentdir status; stop: agentdir stop`,
    );
  return exit.done;
}

/** Starts a background daemon, prints nothing, and waits until it is ready. */
export async function launchDaemon(home: string, program: string): Promise<{pid: number | undefined; log: string}> {
  const log = logPath(home);
  makeFolders(dirname(log));
  rotate(log);
  const output = openSync(log, 'a');
  crashPoint('spawn-background');
  const child = spawn(process.execPath, [program, '--home', home, 'start'], {
    cwd: home,
    detached: true,
    stdio: ['ignore', output, output],
    env: {...process.env, AGENTDIR_LOG: log, NO_COLOR: '1'},
  });
  closeSync(output);
  let code: number | null | undefined;
  child.once('exit', status => {
    code = status;
  });
  child.unref();
  const served = await until(() => code !== undefined || readStatus(nodeDisk(home))?.pid === child.pid, START_MS);
  if (code !== undefined || !served)
    throw new UserError(
      served
        ? `the daemon exited immediately (${code ?? 'killed'}): ${lastLine(log)}`
        : `the daemon is not ready yet: process ${child.pid}`,
      code === exit.daemon ? exit.daemon : exit.failed,
      `log: ${relative(process.cwd(), log) || log}`,
    );
  return {pid: child.pid, log};
}

/** Stops the daemon and waits until it has exited. */
export async function stopDaemon({home, json}: {home: string; json: boolean}): Promise<number> {
  const holder = daemonOf(nodeDisk(home));
  if (!holder) throw new UserError(`no daemon serves ${home}`, exit.daemon, 'start one: agentdir start --background');
  const how = await end(holder);
  if (json) printJson({stopped: true, pid: holder.pid, killed: how === 'killed'});
  else if (how === 'killed')
    print(
      `${colors.yellow('killed')} process ${holder.pid}: it did not stop within ${STOP_MS / 1000} s. Nothing is lost: the next start continues`,
    );
  else print(`${colors.green('stopped')} process ${holder.pid}`);
  return exit.done;
}

export async function restartDaemon(options: BackgroundOptions): Promise<number> {
  const holder = daemonOf(nodeDisk(options.home));
  if (holder) await end(holder);
  else if (!options.json) print('no daemon was running');
  return startInBackground(options);
}

function refuseSecond(home: string): void {
  const holder = daemonOf(nodeDisk(home));
  if (holder)
    throw new UserError(
      `a daemon already serves this home: process ${holder.pid} on ${holder.host}`,
      exit.daemon,
      'see agentdir status; to stop it: agentdir stop; to restart it: agentdir restart',
    );
}

async function end(holder: Holder): Promise<'stopped' | 'killed'> {
  if (isRunning(holder) === undefined)
    throw new UserError(
      `process ${holder.pid} on ${holder.host} cannot be stopped from here: it runs in another container or machine`,
      exit.failed,
      'run agentdir stop there',
    );
  signal(holder, 'SIGTERM');
  if (await until(() => !isRunning(holder), STOP_MS)) return 'stopped';
  signal(holder, 'SIGKILL');
  if (await until(() => !isRunning(holder), STOP_MS)) return 'killed';
  throw new UserError(
    `process ${holder.pid} does not exit`,
    exit.failed,
    'it may hang in the kernel: ps -o stat,wchan -p PID',
  );
}

function signal(holder: Holder, name: NodeJS.Signals): void {
  try {
    process.kill(holder.pid, name);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return;
    throw new UserError(
      `process ${holder.pid} cannot be stopped: ${code}`,
      exit.failed,
      'it belongs to another user or machine',
    );
  }
}

async function until(holds: () => boolean, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (!holds()) {
    if (performance.now() > end) return false;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return true;
}

function lastLine(path: string): string {
  try {
    return (
      readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .findLast(line => line.startsWith('agentdir: ')) ?? 'see the log'
    );
  } catch {
    return 'no log was written';
  }
}
