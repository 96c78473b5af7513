import {APPROVALS_FILE, readApprovalItems} from '../../formats/approval/approval-item.ts';
import {isBudget} from '../../formats/approval/approval-state.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {parseTasks} from '../../formats/task/task-parse.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {readHomeFile} from '../../home/read.ts';
import type {DoctorFinding} from './doctor-finding.ts';

/** Limits that agents wait at, each with the setting that raises it. */
export function checkLimits(home: string): DoctorFinding[] {
  const read = readHomeFile(nodeDisk(home), APPROVALS_FILE);
  const text = read && 'text' in read ? read.text : '';
  const waiting = readApprovalItems(parseTasks(text)).items.filter(
    item => isBudget(item) && item.decision === undefined && item.status === 'pending',
  );
  return waiting.map(({id, task}) => ({
    name: 'limits',
    state: 'note',
    message: visibleLine(fieldOf(task, 'reached') ?? task.title),
    hint: `agentdir approve ${id}, or raise ${visibleLine(fieldOf(task, 'limit') ?? 'the limit')}`,
  }));
}
