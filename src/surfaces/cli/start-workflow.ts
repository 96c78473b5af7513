import {exit, UserError} from '../../formats/common/errors.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import {readInstance, resumeInstance} from '../actions/instances/instances.ts';
import {type InstanceProgress, InstanceReader} from '../actions/workflows/follow.ts';
import type {OwnDaemon} from '../actions/workflows/serve-here.ts';
import {colors, complain, note, plural, print, printJson} from '../terminal/output.ts';
import {launchDaemon} from './background.ts';
import {begin, EVERY_MS, type RunOptions, served} from './run.ts';
import {runProgress} from './run-progress.ts';

/** Starts a workflow that goes on until it is stopped; `@pr-123` lets a stopped instance go on. */
export async function startWorkflowCommand(options: RunOptions & {background: boolean}): Promise<number> {
  const {home, instance} = options.file.startsWith('@')
    ? await resumed(options)
    : {home: (await begin(options)).home, instance: options.instance};
  return options.background ? inBackground(options, home, instance) : untilStopped(options, home, instance);
}

async function resumed({home, file, words}: RunOptions): Promise<{home: string; instance: string}> {
  if (home === undefined) throw new UserError('no home here', exit.usage, 'name one with --home DIR');
  if (words.length > 0)
    throw new UserError(`unknown option or argument "${words[0]}"`, exit.usage, 'an instance keeps its parameters');
  const {instance} = readInstance(home, file.slice(1));
  await resumeInstance(home, instance);
  return {home, instance};
}

async function inBackground({json, program}: RunOptions, home: string, instance: string): Promise<number> {
  // The daemon starts workflows of schedules with this command.
  const running = daemonOf(nodeDisk(home))?.pid ?? process.env.AGENTDIR_SERVED_BY;
  const pid = running ?? (await launchDaemon(home, program)).pid;
  const {run, agents, status} = readNow(new InstanceReader(home, instance), instance);
  if (json)
    printJson({instance, status, agents: agents.map(({name, session}) => ({name, session})), pid: Number(pid) || null});
  else
    print(
      `${colors.green('started')} ${colors.bold(`${run.name}@${instance}`)} in the background: ${plural(agents.length, 'agent')}, daemon process ${pid}\n  look: agentdir context peek --instance ${instance}; stop: agentdir stop @${instance}`,
    );
  return exit.done;
}

function readNow(reader: InstanceReader, instance: string): InstanceProgress {
  const now = reader.read();
  if (!now) throw new UserError(`.workflow/${instance} was removed`);
  return now;
}

async function untilStopped(options: RunOptions, home: string, instance: string): Promise<number> {
  const {json, verbose} = options;
  const reader = new InstanceReader(home, instance);
  const progress = runProgress({json, verbose, always: true});
  const follow = json ? jsonLines(instance) : words();
  const stopTelling = tellOnInterrupt(instance);
  let own: OwnDaemon | undefined;
  try {
    if (!json) note(`to stop: agentdir stop @${instance}`);
    for (;;) {
      own = await served(options, home, own);
      const now = readNow(reader, instance);
      progress.show(now);
      follow(now);
      if (now.status === 'stopped') {
        progress.end();
        if (!json) print(`${colors.yellow('stopped')} ${colors.bold(`${now.run.name}@${instance}`)}`);
        return exit.done;
      }
      await new Promise(resolve => setTimeout(resolve, EVERY_MS));
    }
  } finally {
    stopTelling();
    await own?.stop();
  }
}

/** A line for each new entry, and for each change of the status. */
function jsonLines(instance: string): (now: InstanceProgress) => void {
  let seen = 0;
  let last = '';
  return ({run, status, entries}) => {
    for (const entry of entries.slice(seen)) printJson({event: 'entry', instance, ...entry});
    seen = entries.length;
    const {error, waiting_for} = run;
    const line = {
      ...{event: 'status', instance, status},
      ...(error !== undefined && {error}),
      ...(waiting_for !== undefined && {waiting_for}),
    };
    if (JSON.stringify(line) !== last) printJson(line);
    last = JSON.stringify(line);
  };
}

/** Why nothing goes on, once for each reason. */
function words(): (now: InstanceProgress) => void {
  let last = '';
  return ({run, status}) => {
    const why =
      status === 'failed'
        ? (run.error ?? 'an agent failed')
        : status === 'waiting'
          ? `waits for you: ${(run.waiting_for ?? []).join(', ')}`
          : '';
    if (why === last) return;
    last = why;
    if (status === 'failed') complain(why, `fix the cause, then: agentdir resume SESSION`);
    else if (why !== '') note(`${why}; see agentdir approvals`);
  };
}

function tellOnInterrupt(instance: string): () => void {
  const tell = () => {
    if (process.stderr.isTTY) process.stderr.write('\n');
    note(`${instance} is not stopped: it continues with the next daemon. To stop it: agentdir stop @${instance}`);
    process.kill(process.pid, 'SIGINT');
  };
  process.once('SIGINT', tell);
  return () => process.off('SIGINT', tell);
}
