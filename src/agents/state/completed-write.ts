import type {CompletedFile} from '../../decide/complete.ts';
import type {DaemonEntry, PlannedWrite} from '../../loop/planned-write.ts';

/** A completed file as a planned write. `cause`: the reason in the journal. */
export function plannedWriteOf(completed: CompletedFile | undefined, cause: string): PlannedWrite | undefined {
  if (!completed) return undefined;
  const {text, before = [], written} = completed;
  return {
    text,
    entry: entryOf(completed, cause),
    earlier: before.map(step => ({text: step.text, entry: entryOf(step, cause)})),
    ...(written && {done: written}),
  };
}

const MOST_TRAILERS = 10;

function entryOf({words, tasks, approvals = [], agent, joins}: CompletedFile, cause: string): DaemonEntry {
  const trailers = approvals.slice(0, MOST_TRAILERS).map((id): [string, string] => ['Approval', id]);
  return {words, tasks, cause, trailers, ...(agent !== undefined && {agent}), ...(joins && {joins})};
}
