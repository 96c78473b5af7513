import {visibleLine} from '../../formats/common/visible.ts';
import {nextSlot} from '../../formats/schedule-slots.ts';
import {parseSettings, scheduleTarget} from '../../formats/settings.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {type InboxState, inboxStates} from '../../home/inbox-state.ts';
import {MARKER} from '../../home/locate.ts';
import {readHomeFile} from '../../home/read.ts';
import type {InboxDelivery} from '../../home/status.ts';
import {colors, plural} from '../terminal/output.ts';
import {type Connector, connectorLine, connectorsOf} from './connector-lines.ts';

/** Inboxes and schedules. */
export interface ComingIn {
  inboxes: InboxState[];
  connectors: Connector[];
  /** Next time of each schedule; null if never. */
  schedules: {cron: string; to: string; message: string; next: string | null}[];
}

export function comingIn(home: string, now: number): ComingIn {
  const read = readHomeFile(nodeDisk(home), MARKER);
  const settings = (read && 'text' in read && parseSettings(read.text).value) || {};
  const schedules = settings.schedules ?? [];
  return {
    inboxes: inboxStates(home),
    connectors: connectorsOf(home, settings),
    schedules: schedules.map(schedule => {
      const next = nextSlot(schedule, now);
      const {cron, message = ''} = schedule;
      return {
        cron,
        to: scheduleTarget(schedule),
        message,
        next: next === undefined ? null : new Date(next).toISOString(),
      };
    }),
  };
}

function isRead({unread, rejected}: InboxState): boolean {
  return unread === 0 && rejected === undefined;
}

/** `inbox/slack.jsonl#7` → 7 */
function lineOf({from}: InboxDelivery): string {
  return visibleLine(from.slice(from.lastIndexOf('#') + 1));
}

const MAX_INBOXES_SHOWN = 5;
/** Show progress above this size. */
const LARGE = 100_000;

/** `delivered`: where the last line of each inbox went, as far as the running daemon knows. */
export function comingInLines(
  {inboxes, connectors, schedules}: ComingIn,
  delivered: Readonly<Record<string, InboxDelivery>>,
  localTime: (iso: string) => string,
): string[] {
  const lines = inboxes.reduce((sum, inbox) => sum + inbox.lines, 0);
  const out =
    inboxes.length === 0
      ? []
      : [`  ${inboxes.length === 1 ? '1 inbox' : `${inboxes.length} inboxes`}, ${plural(lines, 'line')} read`];
  const hasNews = ({file, unread, rejected}: InboxState) =>
    unread > 0 || rejected !== undefined || delivered[file] !== undefined;
  // Those with a problem first.
  const shown = inboxes.filter(hasNews).sort((a, b) => Number(isRead(a)) - Number(isRead(b)));
  for (const {file, unread: bytes, size, lines, rejected} of shown.slice(0, MAX_INBOXES_SHOWN)) {
    const to = delivered[file];
    const parts = [
      bytes > LARGE && `${plural(lines, 'line')} read, ${Math.floor((100 * (size - bytes)) / size)} % of it`,
      bytes > 0 && `${plural(bytes, 'byte')} not read yet`,
      to && `line ${lineOf(to)} went to ${visibleLine(to.session)}`,
      rejected !== undefined && colors.yellow(`rejected lines are in ${visibleLine(rejected)}`),
    ];
    out.push(`    ${visibleLine(file)}: ${parts.filter(Boolean).join('; ')}`);
  }
  if (shown.length > MAX_INBOXES_SHOWN) out.push(`    … and ${shown.length - MAX_INBOXES_SHOWN} more`);
  out.push(...connectors.map(connector => connectorLine(connector, localTime)));
  const due = schedules.filter(({next}) => next !== null).sort((a, b) => ((a.next ?? '') < (b.next ?? '') ? -1 : 1));
  for (const {next, to, message} of due.slice(0, MAX_INBOXES_SHOWN))
    out.push(
      `  next ${localTime(next ?? '')} ${visibleLine(to)}${message === '' ? '' : `: ${visibleLine(message).slice(0, 60)}`}`,
    );
  if (due.length > MAX_INBOXES_SHOWN) out.push(`    … and ${plural(due.length - MAX_INBOXES_SHOWN, 'schedule')} more`);
  return out;
}
