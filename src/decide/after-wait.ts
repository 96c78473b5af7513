import type {ApprovalState} from '../formats/approval/approval-state.ts';
import type {ReachedLimit} from './limits.ts';

/**
 * The next step of a session that waits for a higher limit. A rejected request pauses it. It also continues if the limit is
 * no longer reached.
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
