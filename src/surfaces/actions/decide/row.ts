import {type ApprovalRow, type Request, approvalRow as rowOf, titleOf} from '../../../check/approval-row.ts';
import {commandOf} from './command-now.ts';
import {pageDecision} from './page.ts';

export type {ApprovalRow} from '../../../check/approval-row.ts';

/** A row with the command as it would run, if queue and page agree. */
export function readApprovalRow(home: string, request: Request): ApprovalRow {
  const row = rowOf(request, id => pageDecision(home, id));
  const now = commandOf(home, request);
  const differ = now !== undefined && 'queue' in now;
  const command = differ ? now.queue : (now?.text ?? null);
  const edited = row.edited || differ || now?.changed !== undefined;
  const title = `${titleOf(request.task.title, edited, command)}${differ ? ', and differently on its page' : ''}`;
  return {...row, command, edited, title};
}
