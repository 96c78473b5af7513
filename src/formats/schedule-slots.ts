import {Cron} from 'croner';
import {shortHash} from './inbox-message.ts';
import {type ScheduleSetting, scheduleTarget} from './settings.ts';

/** Id of a schedule; changes with its time, agent, message or workflow. */
export function scheduleId(schedule: ScheduleSetting): string {
  const {cron, timezone = '', message, params} = schedule;
  const what = message ?? JSON.stringify(params ?? {});
  return shortHash([cron, timezone, scheduleTarget(schedule), what].join('\0'));
}

/** First time after `from`, in milliseconds; undefined: never again. */
export function nextSlot(schedule: ScheduleSetting, from: number): number | undefined {
  return cronOf(schedule).nextRun(new Date(from))?.getTime();
}

/** Times after `from` up to `to`, newest first, at most `most`. */
export function slotsBetween(schedule: ScheduleSetting, from: number, to: number, most: number): number[] {
  // previousRuns excludes its argument: add a second to include `to` itself.
  const past = cronOf(schedule).previousRuns(most + 1, new Date(to + 1_000));
  return past
    .map(slot => slot.getTime())
    .filter(slot => slot > from && slot <= to)
    .slice(0, most);
}

function cronOf({cron, timezone}: ScheduleSetting): Cron {
  return new Cron(cron, {paused: true, ...(timezone !== undefined && {timezone})});
}
