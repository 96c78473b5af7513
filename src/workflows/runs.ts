import type {With} from '../agents/state/parts.ts';
import type {ChannelEntry} from '../formats/channel.ts';
import {dueMentions} from '../formats/channel-cursor.ts';
import {channelPath, instanceOf, type Run} from '../formats/run.ts';
import {timestamp} from '../home/disk/clock.ts';
import {lookAgain} from '../loop/look-again.ts';
import type {PlannedWrite} from '../loop/planned-write.ts';
import type {Reconciler} from '../loop/reconciler.ts';
import {withChanges} from './changes.ts';
import {postEntry} from './channels.ts';
import {postMention} from './mentions.ts';
import {stateOf, statusWords} from './run-state.ts';
import {channelEntries} from './texts.ts';

type Needs = With<'files' | 'current' | 'reports' | 'turns' | 'mail' | 'workflows'>;

/**
 * .workflow/…/run.yaml: posts the kickoff, wakes the agents that the channel mentions, and records the state that follows from their
 * sessions. The command that starts an instance has written the file and run its setup before.
 */
export function runReconciler(daemon: Needs): Reconciler {
  const {files, workflows} = daemon;
  const stopped = new Map<string, boolean>();
  return {
    kind: 'run',
    async settle({path, parsed, text = ''}) {
      const run = parsed?.kind === 'run' ? parsed.file.value : undefined;
      return run && settleRun(daemon, path, text, run);
    },
    accepted({path, parsed}) {
      const run = parsed?.kind === 'run' ? parsed.file.value : undefined;
      if (!run) return;
      const isStopped = run.status === 'stopped';
      if ((stopped.get(path) ?? false) !== isStopped) followStop(daemon, run, isStopped);
      stopped.set(path, isStopped);
      if (workflows.posts.get(channelPath(run.instance)).length > 0) lookAgain(files, channelPath(run.instance));
    },
    removed(path) {
      stopped.delete(path);
      for (const change of workflows.changes.get(path)) workflows.changes.remove(path, change);
    },
    isAtRest: ({parsed}) => parsed?.kind !== 'run' || parsed.file.value?.status !== 'running',
  };
}

/** Stop the work of an instance, or let it go on. */
function followStop({files, turns}: With<'files' | 'turns'>, run: Run, isStopped: boolean): void {
  for (const path of files.index.paths()) {
    if (!path.startsWith(`sessions/${run.instance}/`)) continue;
    if (isStopped) {
      turns.dropQuestions(path);
      turns.endCalls(`the workflow instance ${run.instance} is stopped`, path);
    }
    lookAgain(files, path);
  }
}

/** The next version of a run.yaml, if anything in it changes. */
async function settleRun(daemon: Needs, path: string, text: string, run: Run): Promise<PlannedWrite | undefined> {
  const {files, workflows} = daemon;
  if (run.instance !== instanceOf(path)) return undefined;
  const now = timestamp(files.disk.clock);
  const due = workflows.changes.get(path);
  if (due.length > 0) {
    const after = due.reduce((before, {apply}) => apply(before), run);
    const written = () => {
      for (const change of due) if (workflows.changes.remove(path, change)) change.written();
    };
    const changed = withChanges(text, run, after);
    if (changed !== text)
      return {
        text: withChanges(changed, after, {...after, updated: now}),
        entry: {words: [...new Set(due.map(({words}) => words))].slice(0, 3).join('; '), cause: 'channel'},
        done: written,
        again: true,
      };
    written();
  }
  // Agents that were added by hand have no kickoff.
  if (run.status === 'stopped' || (!run.kickoff && run.workflow !== 'none')) return undefined;
  const entries = await channelEntries(daemon, run);
  if (run.kickoff && !run.kickoff.posted) return kickOff(daemon, text, run, entries);
  const mentions = dueMentions(run, entries);
  for (const mention of mentions) await postMention(daemon, run, entries, mention);
  const state = await stateOf(daemon, run, mentions.length > 0);
  const after = {...run, ...state};
  for (const key of ['error', 'waiting_for'] as const) if (state[key] === undefined) delete after[key];
  const changed = withChanges(text, run, after);
  if (changed === text) return undefined;
  return {
    text: withChanges(changed, after, {...after, updated: now}),
    entry: {words: statusWords(state), cause: 'workflow'},
    again: true,
  };
}

/** Post the kickoff. It is marked once the channel has it. */
function kickOff(daemon: Needs, text: string, run: Run, entries: readonly ChannelEntry[]): PlannedWrite | undefined {
  const {kickoff} = run;
  if (!kickoff) return undefined;
  const isThere = entries.some(({time, from}) => time === kickoff.at && from === 'system');
  if (!isThere) {
    const {posts} = daemon.workflows;
    const isDue = posts.get(channelPath(run.instance)).some(({time, from}) => time === kickoff.at && from === 'system');
    if (!isDue)
      postEntry(daemon, run, {
        time: kickoff.at,
        from: 'system',
        text: kickoff.text,
        agent: undefined,
        written: () => {},
      });
    return undefined;
  }
  const after = {...run, kickoff: {...kickoff, posted: true}};
  return {text: withChanges(text, run, after), entry: {words: 'kickoff posted', cause: 'workflow'}, again: true};
}
