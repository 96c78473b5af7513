import {join, relative} from 'node:path';
import {exit, UserError} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {channelPath, documentPath} from '../../formats/run.ts';
import {createHome} from '../../home/create.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import {soundHolds} from '../actions/agents/holds.ts';
import {type BeginOptions, type Begun, beginInstance, refuseInstanceName} from '../actions/workflows/begin.ts';
import {findWorkflow, refuseUnrunnable} from '../actions/workflows/find-workflow.ts';
import {type InstanceProgress, InstanceReader} from '../actions/workflows/follow.ts';
import {type OwnDaemon, serveHere} from '../actions/workflows/serve-here.ts';
import {paramsGiven} from '../actions/workflows/values.ts';
import {colors, complain, note, plural, print, printJson, printWhole} from '../terminal/output.ts';
import {entryText} from './context.ts';
import {runProgress} from './run-progress.ts';

export interface RunOptions {
  /** Undefined: outside any home. */
  home: string | undefined;
  file: string;
  /** Parameters of the workflow. */
  words: readonly string[];
  instance: string;
  retry: boolean;
  verbose: boolean;
  json: boolean;
  /** The package's own home, from which new homes are made. */
  source: string;
  /** bin/main.js */
  program: string;
}

export const EVERY_MS = 150;

/** Runs a workflow until its agents are idle. */
export async function runCommand(options: RunOptions): Promise<number> {
  const {home, begun} = await begin(options);
  const {instance, json, verbose} = options;
  const reader = new InstanceReader(home, instance);
  const stopTelling = tellOnInterrupt(options);
  let own: OwnDaemon | undefined;
  try {
    const first = reader.read();
    if (begun.existed && first?.isFinal && (first.status === 'idle' || first.status === 'failed')) {
      if (!json)
        note(`${instance} is ${first.status} already; nothing is repeated. To run the workflow again: --instance NAME`);
      return finish(home, first, options);
    }
    const progress = runProgress({json, verbose, always: false});
    for (;;) {
      own = await served(options, home, own);
      const now = reader.read();
      if (!now) throw new UserError(`.workflow/${instance} was removed`);
      progress.show(now);
      if (now.isFinal) {
        progress.end();
        return finish(home, now, options);
      }
      await new Promise(resolve => setTimeout(resolve, EVERY_MS));
    }
  } finally {
    stopTelling();
    await own?.stop();
  }
}

/** Makes sure that a daemon serves the home: another one, or one that ends with this process. */
export async function served(
  {file, instance, program}: RunOptions,
  home: string,
  own: OwnDaemon | undefined,
): Promise<OwnDaemon | undefined> {
  if (daemonOf(nodeDisk(home)) || (own && own.ended() === undefined)) return own;
  if (own)
    throw new UserError(
      `the daemon ended: ${own.ended()}`,
      exit.failed,
      `go on with: agentdir run ${file} --instance ${instance}`,
    );
  return serveHere(home, program);
}

/** Everything up to the recorded kickoff: home, checks, setup. Also what `start FILE` does first. */
export async function begin(options: RunOptions): Promise<{home: string; begun: Begun}> {
  const {file, words, instance, retry, json} = options;
  refuseInstanceName(instance);
  const cwd = process.cwd();
  const found = findWorkflow(options.home, file, cwd);
  // The first error ends the command, with its own message.
  const first = found.problems.find(({severity}) => severity === 'error');
  for (const each of found.problems) {
    const {severity, line, column, code, message, hint} = each;
    if (each !== first && (severity === 'error' || !json))
      complain(`${found.shown}:${line}:${column}: ${severity} ${code}: ${message}`, hint);
  }
  const params = paramsGiven(refuseUnrunnable(found), words);
  const home = options.home ?? (await homeFor(options, cwd));
  const onStep: BeginOptions['onStep'] = (step, of, shell) => {
    if (!json) note(`setup ${step}/${of}: ${visibleLine(shell.split('\n')[0] ?? '')}`);
  };
  const begun = await beginInstance({home, found, instance, params, cwd, retry, onStep});
  if (begun.changed && !json)
    note(
      `${found.shown} has changed since ${instance} began, which goes on as it began. To run it as it is now: --instance NAME`,
    );
  return {home, begun};
}

/** A home in the instance's folder, where there is none. */
async function homeFor({instance, source, json}: RunOptions, cwd: string): Promise<string> {
  const dir = join(cwd, '.workflow', instance);
  const {made} = await createHome(dir, source);
  if (!json && made.length > 0)
    note(`no home here: made one in ${relative(cwd, dir)}. To use it: --home ${relative(cwd, dir)}`);
  return dir;
}

function tellOnInterrupt({file, instance}: RunOptions): () => void {
  const tell = () => {
    if (process.stderr.isTTY) process.stderr.write('\n');
    note(`interrupted; nothing is lost. To continue: agentdir run ${file} --instance ${instance}`);
    process.kill(process.pid, 'SIGINT');
  };
  process.once('SIGINT', tell);
  return () => process.off('SIGINT', tell);
}

/** Prints the results, and returns the exit code. */
function finish(home: string, progress: InstanceProgress, {json, file, instance}: RunOptions): number {
  const {run, status, agents, entries, usage} = progress;
  const holds = soundHolds(home);
  const inMemory = run.context.provider === 'memory';
  const document = run.context.document && !inMemory ? documentPath(run.instance) : null;
  const tokens = usage.input_tokens + usage.output_tokens;
  if (json)
    printJson({
      instance: run.instance,
      status,
      agents: agents.map(({name, session, status: of, usage: {input_tokens, output_tokens}, answer}) => ({
        ...{name, session, status: of, usage: {input_tokens, output_tokens}, answer},
      })),
      entries,
      document,
      usage: {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        ...(usage.unpriced_tokens === 0 && {cost_usd: usage.cost_usd}),
      },
      ...(run.error !== undefined && {error: run.error}),
      ...(run.waiting_for !== undefined && {waiting_for: run.waiting_for}),
    });
  else {
    for (const entry of entries) printWhole(`${entryText(entry)}\n`);
    const paint = status === 'idle' ? colors.green : status === 'failed' ? colors.red : colors.yellow;
    print(
      `${paint(status === 'idle' ? 'done' : status)} ${colors.bold(`${run.name}@${run.instance}`)}: ${plural(agents.length, 'agent')}, ${entries.length} channel ${entries.length === 1 ? 'entry' : 'entries'}, ${tokens} tokens`,
    );
    const shown = (path: string) => relative(process.cwd(), join(home, path)) || path;
    if (!inMemory) print(`  channel:  ${shown(channelPath(run.instance))}`);
    if (document !== null) print(`  document: ${shown(document)}`);
  }
  switch (status) {
    case 'idle':
      return exit.done;
    case 'waiting':
      for (const session of run.waiting_for ?? []) {
        const stopped = agents.find(each => each.session === session && Object.hasOwn(holds, each.name));
        note(
          stopped
            ? `${stopped.name} is stopped: agentdir agents start ${stopped.name}`
            : `${session} waits for you: agentdir approvals, or agentdir show ${session}`,
        );
      }
      note(`then go on with: agentdir run ${file} --instance ${instance}`);
      return exit.waiting;
    case 'stopped':
      complain(`${run.instance} was stopped`, `to continue: agentdir start ${file} --instance ${instance}`);
      return exit.failed;
    default:
      for (const line of (run.error ?? 'an agent failed').split('\n')) complain(line);
      return exit.failed;
  }
}
