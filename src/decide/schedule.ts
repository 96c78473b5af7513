import {slotsBetween} from '../formats/schedule-slots.ts';
import {type ScheduleSetting, scheduleTarget, type WorkflowSchedule} from '../formats/settings.ts';
import type {ClaimedSlot, ScheduleSlots} from '../formats/slots-file.ts';

/** A scheduled time counts as missed after this. */
const IN_TIME_MS = 60_000;
/** `missed: all` delivers at most this many missed times, the newest. */
export const MAX_MISSED = 100;
/** If the last claimed time is further ahead, the clock was wrong then. Keeping it would silence the schedule. */
const WRONG_CLOCK_MS = 25 * 3_600_000;

/**
 * Claim the due times. A new schedule begins now. A time is claimed once, even if the clock goes back. Undefined: nothing
 * to write.
 */
export function claimSlots(
  schedule: ScheduleSetting,
  known: ScheduleSlots | undefined,
  now: number,
): ScheduleSlots | undefined {
  const {cron, missed = 'once'} = schedule;
  const to = scheduleTarget(schedule);
  const at = (time: number) => new Date(time).toISOString();
  if (!known) return {cron, to, last: at(now)};
  const last = Date.parse(known.last);
  if (last > now + WRONG_CLOCK_MS) return {...known, last: at(now)};
  const slots = slotsBetween(schedule, last, now, MAX_MISSED + 1);
  const [newest] = slots;
  if (newest === undefined) return undefined;
  const inTime = now - newest < IN_TIME_MS;
  const missedCount = Math.min(slots.length - (inTime ? 1 : 0), MAX_MISSED);
  const due: ClaimedSlot[] =
    missed === 'all'
      ? slots
          .slice(0, MAX_MISSED)
          .toReversed()
          .map(slot => ({slot: at(slot), ...(!(inTime && slot === newest) && {missed: 1})}))
      : missed === 'once' || inTime
        ? [{slot: at(newest), ...(missed === 'once' && missedCount > 0 && {missed: missedCount})}]
        : [];
  return {
    ...known,
    cron,
    to,
    last: at(newest),
    ...(known.due || due.length > 0 ? {due: [...(known.due ?? []), ...due]} : {}),
  };
}

/** The message for the agent. */
export function slotWords({message = ''}: ScheduleSetting, {slot, missed = 0}: ClaimedSlot): string {
  if (missed === 0) return message;
  const many = missed >= MAX_MISSED ? `at least ${MAX_MISSED}` : missed;
  const due = missed === 1 ? `This was due at ${slot}` : `This was due ${many} times, the last at ${slot}`;
  return `${message}\n\n(${due}. No daemon ran then.)`;
}

/** The delivery id. */
export function slotDelivery(id: string, {slot}: ClaimedSlot): string {
  return `schedule/${id}@${slot}`;
}

/** The workflow instance for a claimed time: `standup-20261119-0900`. */
export function slotInstance({workflow}: WorkflowSchedule, {slot}: ClaimedSlot): string {
  const name = workflow
    .slice(workflow.lastIndexOf('/') + 1)
    .replace(/(?:\.workflow)?\.ya?ml$/i, '')
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  const [, day = '', time = '', seconds = ''] = /^([\d-]+)T(\d\d:\d\d):(\d\d)/.exec(slot) ?? [];
  const digits = `${day.replaceAll('-', '')}-${time.replace(':', '')}${seconds === '00' ? '' : seconds}`;
  return `${name.slice(0, 40) || 'workflow'}-${digits}`;
}
