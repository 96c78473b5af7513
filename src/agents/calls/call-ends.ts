import {markOf} from '../../effects/sandbox/environment.ts';
import type {ToolContext, ToolResult} from '../../effects/tool/tool.ts';
import type {ApprovalItem} from '../../formats/approval/approval-item.ts';
import type {ApprovalState} from '../../formats/approval/approval-state.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import type {Caller} from '../state/caller.ts';
import type {Effects} from '../state/parts.ts';
import {effectsOf} from '../world/effects.ts';

/** The result of a call that was rejected or has expired; undefined for other states. */
export function resultOfDecision(
  state: ApprovalState | undefined,
  item: ApprovalItem | undefined,
): ToolResult | undefined {
  if (state === 'rejected' && item?.type === 'question')
    return {
      success: false,
      code: 'REJECTED',
      error: `the person did not answer${item.reason === undefined ? '' : `: ${item.reason}`}`,
    };
  if (state === 'rejected') return rejectedResult(item?.reason);
  if (state === 'expired')
    return {success: false, code: 'EXPIRED', error: 'nobody decided in time, so this call was not made'};
  return undefined;
}

export function rejectedResult(reason: string | undefined): ToolResult {
  const why = reason === undefined ? '; no reason was given' : `: ${reason}`;
  return {success: false, code: 'REJECTED', error: `a person rejected this call${why}. Do not try the same again`};
}

/** The result of a call that an earlier daemon started. Ends leftover processes of the call first. */
export async function interruptedResult(
  effects: Effects,
  call: Call,
  {session}: Caller,
  context: ToolContext,
): Promise<ToolResult> {
  const {endLeftovers, tidyAfter} = effectsOf(effects.world);
  const processes = call.run === undefined ? 0 : await endLeftovers(markOf(call.run, session, call.id));
  tidyAfter(call.function, context);
  const ended =
    processes === 0
      ? ''
      : ` What still ran of it (${processes === 1 ? 'a process' : `${processes} processes`}) was ended.`;
  return {
    success: false,
    code: 'INTERRUPTED',
    error: `interrupted, outcome unknown: the daemon was stopped while this ran.${ended} Find out what happened before trying again; a person is asked before the same call is made once more.`,
  };
}
