import {type ChildProcess, spawn} from 'node:child_process';
import {closeSync} from 'node:fs';
import {constants} from 'node:os';
import {setImmediate as nextTurn, setTimeout as pause} from 'node:timers/promises';
import {findBubblewrap} from './bubblewrap.ts';
import type {HostGroup} from './control-groups.ts';
import {environment} from './environment.ts';
import {findProgram, programFolders} from './find-program.ts';
import {coverInherited} from './inherited.ts';
import {joining, type LimitedRun} from './limits.ts';
import {type NotRunnable, notRunnable} from './not-runnable.ts';
import {isGroupAlive, isProcessAlive, signal} from './processes.ts';
import {profile} from './profile.ts';
import type {Program, RunRequest} from './request.ts';
import {hasFilter, openFilter} from './seccomp.ts';

/** How a program ended; `code` is 128 + n if signal n killed it. */
export interface Exit {
  code: number;
  signal: NodeJS.Signals | null;
  /** Why the program or its sandbox could not be started. */
  error?: string;
}

export interface StartedProgram {
  exited: Promise<Exit>;
  /** Send SIGTERM; false: there is no process to signal. */
  ask: () => boolean;
  /** Kill all its processes and wait until they are gone; false: a process survived. */
  end: () => Promise<boolean>;
}

/** What the programs of a run join: those in the sandbox, and those on the host. */
export interface RunGroups {
  limited?: LimitedRun | undefined;
  host?: HostGroup | undefined;
}

/** A file with its arguments, or exit code and message of a shell that cannot start it. */
export type StartPlan =
  | {file: string; argv: readonly string[]; confined: boolean; env: Record<string, string>; cwd: string}
  | NotRunnable
  | {error: string};

export async function planStart(program: Program, request: RunRequest, groups: RunGroups): Promise<StartPlan> {
  const {confined, argv} = program;
  const name = argv[0] ?? '';
  const found = findProgram(name, {...request, confined});
  if (!found)
    return {code: 127, says: `${name}: ${name.includes('/') ? 'No such file or directory' : 'command not found'}`};
  if (found.notExecutable) return {code: 126, says: `${name}: Permission denied`};
  const not = notRunnable(found.path, {...request, confined});
  if (not) return {code: not.code, says: `${name}: ${not.says}`};
  const env = {...environment({...request, confined}), PATH: programFolders({...request, confined}).join(':')};
  const cwd = request.workspace;
  if (!confined) {
    const {host} = groups;
    if (!host) return {file: found.place, argv, confined, env, cwd};
    const words = [...joining(host.joins), found.place, ...argv.slice(1)];
    return {file: words[0] ?? found.place, argv: words, confined, env, cwd};
  }
  const bubblewrap = await findBubblewrap();
  if (!bubblewrap) return {error: 'bubblewrap is not installed'};
  if ('problem' in bubblewrap) return {error: bubblewrap.problem};
  const made = profile({...request, network: program.network}, bubblewrap);
  if ('problem' in made) return {error: made.problem};
  const sandbox = [bubblewrap.path, ...statusArgs, ...(hasFilter ? filterArgs : []), ...made.args];
  const words = [...(groups.limited?.outside ?? []), ...sandbox, ...(groups.limited?.inside ?? []), ...argv];
  return {file: words[0] ?? bubblewrap.path, argv: words, confined, env, cwd: '/'};
}

const statusFd = 3;
const statusArgs = ['--json-status-fd', String(statusFd)];
const filterArgs = ['--seccomp', String(statusFd + 1)];

/** `nothing`: an open /dev/null. Throws if the process cannot be started. */
export function start(
  prepared: Extract<StartPlan, {file: string}>,
  stdio: readonly number[],
  nothing: number,
): StartedProgram {
  const {file, argv, confined, env, cwd} = prepared;
  const filter = confined ? openFilter() : undefined;
  try {
    const own = [...stdio, ...(confined ? (['pipe'] as const) : []), ...(filter === undefined ? [] : [filter])];
    const child = spawn(file, argv.slice(1), {
      ...{argv0: argv[0] ?? file, cwd, env},
      detached: true,
      stdio: [...own, ...coverInherited(own.length, nothing)],
    });
    return confined ? sandboxed(child) : onHost(child);
  } finally {
    if (filter !== undefined) closeSync(filter);
  }
}

function onHost(child: ChildProcess): StartedProgram {
  const group = child.pid;
  return {
    exited: exitOf(child),
    ask: () => group !== undefined && signal(-group, 'SIGTERM'),
    end: async () => {
      if (group === undefined) return true;
      return until(() => {
        if (!isGroupAlive(group)) return true;
        signal(-group, 'SIGKILL');
        return false;
      });
    },
  };
}

/** Bubblewrap reports the first process inside; when that is gone, so is everything inside. */
function sandboxed(child: ChildProcess): StartedProgram {
  let status = '';
  const first = (): number | undefined => {
    const pid = /"child-pid": (\d+)/.exec(status)?.[1];
    return pid === undefined ? undefined : Number(pid);
  };
  const telling = child.stdio[statusFd];
  if (telling && 'setEncoding' in telling) {
    telling.setEncoding('latin1');
    telling.on('data', (text: string) => {
      status += text;
    });
    telling.on('error', () => {});
  }
  let told = false;
  const exited = exitOf(child).finally(() => {
    told = true;
  });
  return {
    exited: exited.then(exit =>
      exit.error !== undefined || exit.signal !== null || status.includes('"exit-code"')
        ? exit
        : {...exit, error: 'the sandbox could not be made'},
    ),
    ask: () => {
      const leader = first();
      // Signal the session inside: process 1 of a namespace ignores SIGTERM itself.
      return leader !== undefined && signal(-leader, 'SIGTERM');
    },
    end: async () => {
      const outer = child.pid;
      if (outer === undefined) return true;
      return until(() => {
        const inner = first();
        const alive = [outer, ...(inner === undefined ? [] : [inner])].filter(isProcessAlive);
        for (const pid of alive) signal(pid, 'SIGKILL');
        // The installed bubblewrap may be a script whose children hold our pipe.
        if (!told) signal(-outer, 'SIGKILL');
        // Killed early, bubblewrap may not have reported the first process yet.
        return told && alive.length === 0;
      });
    },
  };
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise(resolve => {
    child.once('error', error => resolve({code: 126, signal: null, error: error.message}));
    child.once('close', (code, name) =>
      resolve({code: code ?? 128 + (name ? constants.signals[name] : 0), signal: name}),
    );
  });
}

/** Poll until `done`, with growing pauses; give up after some ten seconds. */
async function until(done: () => boolean): Promise<boolean> {
  for (let round = 0; round < 250; round++) {
    if (done()) return true;
    await (round < 20 ? nextTurn() : pause(Math.min(round - 19, 50)));
  }
  return done();
}
