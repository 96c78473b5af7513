import {authorHere} from '../../home/git/git-config.ts';
import {rejecting} from '../actions/decide/choose.ts';
import {decide, refuseDecided, refuseStarted} from '../actions/decide/decide.ts';
import {findRequests, type Request} from '../actions/decide/queue.ts';
import {askLine, leftError, onTerminal} from './keys.ts';
import {type DecisionReport, noteReplaced, reportDecisions} from './report-decisions.ts';

export interface RejectOptions extends DecisionReport {
  ids: readonly string[];
  reason: string | undefined;
}

export async function rejectCommand(options: RejectOptions): Promise<number> {
  const {home, ids, json} = options;
  const requests = findRequests(home, ids);
  for (const request of requests) refuseDecided(home, request, 'rejected');
  await refuseStarted(home, requests);
  const reason = options.reason ?? (!json && onTerminal() ? await askReason() : undefined);
  return reportDecisions(await rejectRequests(home, requests, reason), options);
}

export async function askReason(): Promise<string> {
  const reason = await askLine('reason for the agent (may be empty): ');
  if (reason === undefined) throw leftError();
  return reason;
}

export async function rejectRequests(
  home: string,
  requests: readonly Request[],
  reason: string | undefined,
): Promise<Request[]> {
  const by = await authorHere(home);
  await refuseStarted(home, requests);
  const choices = requests.map(request => rejecting(home, request, by, reason));
  noteReplaced(reason || undefined, choices[0]?.fields.rejection_reason);
  return decide(home, choices);
}
