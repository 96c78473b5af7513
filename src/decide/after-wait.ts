import type {ApprovalState} from '../formats/approval/approval-state.ts';
import type {ReachedLimit} from './limits.ts';

/**
 * What a session that waits does next. Whatever became of the request, a session whose limit is not reached any more
 * goes on, and one whose request is gone asks again.
 */
export function afterWait(
  id: string,
  state: ApprovalState | undefined,
  reached: Iterable<ReachedLimit>,
): 'wait' | 'go on' | 'pause' {
  if (state === 'rejected') return 'pause';
  if (state === 'approved' || state === 'withdrawn') return 'go on';
  for (const limit of reached) if (limit.id === id) return 'wait';
  return 'go on';
}
