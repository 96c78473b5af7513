import type {Call, Message} from '../formats/session/session-schema.ts';
import type {OpenCalls} from './turn.ts';

/** Default of `limits.calls_per_answer`. */
export const CALLS_PER_ANSWER = 64;

/** Open calls that the daemon runs, and open calls beyond the limit of their answer, which get a result instead. */
interface SplitCalls {
  accepted: readonly Call[];
  refused: readonly Call[];
}

/**
 * Split the open calls of an answer at the limit. A call beyond the limit that was asked about or started before the
 * limit existed, or before it was lowered, stays accepted.
 */
export function splitCalls(messages: readonly Message[], {index, calls}: OpenCalls, limit: number): SplitCalls {
  const all = messages[index]?.tool_calls ?? [];
  if (all.length <= limit) return {accepted: calls, refused: []};
  const first = new Set(all.slice(0, limit));
  const isAccepted = (call: Call) => first.has(call) || call.approval !== undefined || call.started !== undefined;
  return {accepted: calls.filter(isAccepted), refused: calls.filter(call => !isAccepted(call))};
}

/** The error of a call beyond the limit. */
export function refusedCallWords(limit: number, all: number): string {
  return (
    `not run: this answer has ${all} calls, and only the first ${limit} of an answer are run ` +
    `(limits.calls_per_answer in agentdir.yaml). Make the calls that are still needed in your next answer, ` +
    `at most ${limit} at a time`
  );
}
