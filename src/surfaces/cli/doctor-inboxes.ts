import {nodeDisk} from '../../home/disk/disk.ts';
import {inboxStates, misplacedInboxes} from '../../home/inbox-state.ts';
import {daemonOf} from '../../home/status.ts';
import {plural} from '../terminal/output.ts';
import type {DoctorFinding} from './doctor-finding.ts';

/** Unread inboxes and rejected lines. */
export function checkInboxes(home: string): DoctorFinding[] {
  const all = inboxStates(home);
  const misplaced = misplacedInboxes(home);
  if (all.length + misplaced.length === 0) return [];
  const set = all.filter(({rejected}) => rejected !== undefined);
  const waiting = daemonOf(nodeDisk(home)) ? all.filter(({unread}) => unread > 0) : [];
  const found: DoctorFinding[] = set.map(({file, rejected}) => ({
    name: 'inbox',
    state: 'note',
    message: `some lines of ${file} were rejected`,
    hint: `reasons: ${rejected}`,
  }));
  for (const path of misplaced)
    found.push({
      name: 'inbox',
      state: 'note',
      message: `${path} is not read`,
      hint: 'inboxes are files inbox/NAME.jsonl',
    });
  for (const {file, unread} of waiting)
    found.push({
      name: 'inbox',
      state: 'note',
      message: `${unread} bytes of ${file} are not read yet`,
      hint: 'a last line needs a newline; for other causes see NEEDS_YOU.md',
    });
  const lines = all.reduce((sum, inbox) => sum + inbox.lines, 0);
  return found.length > 0 ? found : [{name: 'inbox', state: 'ok', message: `${plural(lines, 'line')} read`}];
}
