import {updateTasks} from '../task/task-edit.ts';
import {parseTasks} from '../task/task-parse.ts';
import {parseApproval} from './approval.ts';
import {setMeta} from './approval-edit.ts';
import {APPROVALS_FILE, type ApprovalItem, readApprovalItems} from './approval-item.ts';
import {pendingId} from './approval-path.ts';

/** The field, in the queue and on the page, that says why a decision did not count and has to be made again. */
export const AGAIN = 'again';

/**
 * `restored`, the former text of the queue or of a pending page, with a note on each request that `voided` decides and `restored`
 * does not: the person who decided it must learn that it did not count. Unchanged for other files.
 */
export function askedAgain(path: string, restored: string, voided: string, why: string): string {
  if (path === APPROVALS_FILE) {
    const file = parseTasks(restored);
    const decided = new Map(itemsOf(voided).map(({id, decision}) => [id, decision]));
    const lost = readApprovalItems(file).items.filter(({id, decision, outcome}) => {
      const wanted = id === undefined ? undefined : decided.get(id);
      return wanted !== undefined && wanted !== decision && outcome === undefined;
    });
    return updateTasks(
      file,
      lost.map(({task}) => [task, {fields: {[AGAIN]: why}}]),
    );
  }
  if (pendingId(path) === undefined) return restored;
  const wanted = parseApproval(voided).review?.decision;
  const isLost = wanted !== undefined && wanted !== parseApproval(restored).review?.decision;
  return isLost ? setMeta(restored, AGAIN, why) : restored;
}

function itemsOf(text: string): ApprovalItem[] {
  return readApprovalItems(parseTasks(text)).items;
}
