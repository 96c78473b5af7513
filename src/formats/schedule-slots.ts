import {Cron} from 'croner';
import {shortHash} from './inbox-message.ts';
import type {ScheduleSetting} from './settings.ts';

/** The name of a schedule: another time, agent or message is another schedule. */
export function scheduleId({cron, timezone = '', to, message}: ScheduleSetting): string {
  return shortHash([cron, timezone, to, message].join('\0'));
}

/** The first time after `from`, in milliseconds; undefined: never again. */
export function nextSlot(schedule: ScheduleSetting, from: number): number | undefined {
  return cronOf(schedule).nextRun(new Date(from))?.getTime();
}

/** The times after `from` and up to `to`, newest first, `most` of them. */
export function slotsBetween(schedule: ScheduleSetting, from: number, to: number, most: number): number[] {
  // What is before a second is asked for: that of `to` itself counts, too.
  const past = cronOf(schedule).previousRuns(most + 1, new Date(to + 1_000));
  return past
    .map(slot => slot.getTime())
    .filter(slot => slot > from && slot <= to)
    .slice(0, most);
}

function cronOf({cron, timezone}: ScheduleSetting): Cron {
  return new Cron(cron, {paused: true, ...(timezone !== undefined && {timezone})});
}
