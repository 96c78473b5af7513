import {APPROVALS_FILE, readApprovalItems} from '../../../formats/approval/approval-item.ts';
import {parseSession} from '../../../formats/session/session.ts';
import type {Call} from '../../../formats/session/session-schema.ts';
import {parseTasks} from '../../../formats/task/task-parse.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {readHomeFile} from '../../../home/read.ts';

/**
 * An approved call that the undo would remove or restore: its approval would remain, and a restored call would run by
 * it.
 */
export function whyApproved(
  home: string,
  now: string | undefined,
  result: string,
): {refused: string; hint: string} | undefined {
  const [is, would] = [callsOf(now ?? ''), callsOf(result)];
  const other = [...is, ...would].filter(
    ({id}) => !is.some(call => call.id === id) || !would.some(call => call.id === id),
  );
  const waiting = other.filter(({approval, started}) => approval !== undefined && started === undefined);
  const read = waiting.length > 0 ? readHomeFile(nodeDisk(home), APPROVALS_FILE) : undefined;
  if (!read || !('text' in read)) return undefined;
  const approved = readApprovalItems(parseTasks(read.text)).items.filter(({decision}) => decision === 'approved');
  const call = waiting.find(({approval}) => approved.some(({id}) => id === approval));
  return (
    call && {
      refused: `its call ${call.id} is approved (${call.approval}), and that would stand`,
      hint: `undo the decision first: agentdir log ${call.approval}`,
    }
  );
}

function callsOf(text: string): Call[] {
  const {messages} = parseSession(text);
  const answered = new Set(messages.map(({tool_call_id}) => tool_call_id));
  return messages.flatMap(({tool_calls = []}) => tool_calls).filter(({id}) => !answered.has(id));
}
