import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Call, Message} from '../../formats/session/session-schema.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {With} from '../state/parts.ts';

/** Hand the outcomes of approved calls to the approval queue. */
export function noteOutcomes(
  {files, approvals}: With<'files' | 'approvals'>,
  calls: readonly Call[],
  results: readonly Message[],
): void {
  const byId = new Map<string | undefined, Call>();
  for (const call of calls) if (!byId.has(call.id)) byId.set(call.id, call);
  for (const {tool_call_id, content} of results) {
    const {approval, started} = byId.get(tool_call_id) ?? {};
    if (approval === undefined || approvals.outcomes.has(approval)) continue;
    approvals.outcomes.set(approval, {executed_at: started, outcome: outcomeIn(content ?? '')});
    lookAgain(files, APPROVALS_FILE);
  }
}

/** Hand over outcomes of calls that an earlier daemon ran and that the queue lacks. */
export function noteMissingOutcomes(daemon: With<'files' | 'approvals'>, path: string, {messages}: Session): void {
  const {files} = daemon;
  const {missingOutcomes, outcomes, unknownRequests} = daemon.approvals;
  const missing = missingOutcomes.get(path);
  if (!missing || !missingOutcomes.delete(path)) return;
  const calls = messages.flatMap(({tool_calls = []}) => tool_calls);
  for (const [id, about] of missing) {
    const call = calls.find(each => each.id === about);
    if (call?.approval === undefined || call.approval === id) continue;
    outcomes.set(id, {status: 'superseded', outcome: 'nothing was run: the call was asked about again'});
    lookAgain(files, APPROVALS_FILE);
  }
  noteOutcomes(
    daemon,
    calls,
    messages.filter(({role}) => role === 'tool_result'),
  );
  for (const id of missing.keys()) {
    const runs = calls.some(({approval, started}) => approval === id && started !== undefined);
    if (runs || outcomes.has(id)) continue;
    unknownRequests.add(id);
    lookAgain(files, APPROVALS_FILE);
  }
}

const MAX_OUTCOME = 200;

/** A short description of how the call ended. */
function outcomeIn(content: string): string {
  try {
    const {success, code, error, exit_code, answer} = JSON.parse(content) as Record<string, unknown>;
    if (typeof answer === 'string') return 'answered';
    if (success === true) return exit_code === undefined ? 'done' : `done, exit code ${exit_code}`;
    return `${code}: ${String(error)}`.replace(/\s+/g, ' ').slice(0, MAX_OUTCOME);
  } catch {
    return 'ended';
  }
}
