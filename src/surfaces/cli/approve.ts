import {exit, UserError} from '../../formats/common/errors.ts';
import {isQuestion} from '../actions/decide/choose.ts';
import {refuseDecided} from '../actions/decide/decide.ts';
import {findRequests, isUnrecorded} from '../actions/decide/queue.ts';
import {type ApproveOptions, approveRequests, unsigned} from './approve-requests.ts';
import {onTerminal} from './keys.ts';
import {knownNames} from './known-names.ts';
import {reportDecisions} from './report-decisions.ts';

export async function approveCommand(options: ApproveOptions & {follow?: boolean}): Promise<number> {
  const {home, ids, json, sign, follow = false} = options;
  if (follow && ids.length > 0)
    throw new UserError('--follow shows each request and takes no ids', exit.usage, 'agentdir approve --follow');
  if (ids.length === 0) {
    if (follow && (json || !onTerminal()))
      throw new UserError('--follow asks on a terminal', exit.usage, 'for programs: agentdir approvals --json');
    if (json || !onTerminal())
      throw new UserError('which one?', exit.usage, `agentdir approve ${firstWaiting(home)}; see agentdir approvals`);
    return (await import('./ask-each.ts')).askEach(options);
  }
  const requests = findRequests(home, ids);
  const bare = requests.find(
    each => each.decision === 'approved' && isUnrecorded(each) && each.signature === undefined,
  );
  const why = bare && (await unsigned(home, sign));
  if (why !== undefined)
    throw new UserError(
      `${bare?.id} is approved already, and ${why}; nothing was written`,
      exit.failed,
      `agentdir approve ${bare?.id} --sign`,
    );
  const more = sign || options.answer !== undefined;
  for (const request of requests) refuseDecided(home, request, 'approved', more);
  if (options.answer !== undefined && !(requests.length === 1 && requests.every(isQuestion)))
    throw new UserError('--answer is for one question', exit.usage, 'see agentdir approvals');
  return reportDecisions(await approveRequests(options, requests), options);
}

function firstWaiting(home: string): string {
  return knownNames(home, 'approval')[0]?.name ?? 'ID';
}
