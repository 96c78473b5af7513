import {describe, expect, it} from 'vitest';
import {claimSlots, MAX_MISSED, slotDelivery, slotWords} from '../../src/decide/schedule.ts';
import {nextSlot, scheduleId} from '../../src/formats/schedule-slots.ts';
import type {ScheduleSetting} from '../../src/formats/settings.ts';
import type {ScheduleSlots} from '../../src/formats/slots-file.ts';
import {cpu} from '../cpu.ts';

const at = (text: string) => Date.parse(text);
const daily: ScheduleSetting = {cron: '0 9 * * *', timezone: 'UTC', to: 'ann', message: 'Plan the day'};
const since = (last: string, rest: Partial<ScheduleSlots> = {}): ScheduleSlots => ({
  cron: daily.cron,
  to: 'ann',
  last,
  ...rest,
});

/** The claimed times, by a schedule that was dealt with up to `last`. */
function claimed(schedule: ScheduleSetting, last: string, now: string) {
  return claimSlots(schedule, since(last), at(now))?.due?.map(
    ({slot, missed}) => `${slot}${missed ? ` ${missed}` : ''}`,
  );
}

describe('a schedule', () => {
  it('begins when it is first seen', () => {
    expect(claimSlots(daily, undefined, at('2026-11-17T10:00:00Z'))).toEqual({
      ...{cron: '0 9 * * *', to: 'ann', last: '2026-11-17T10:00:00.000Z'},
    });
  });

  it('claims a time when it has come, not before, and once', () => {
    const last = '2026-11-16T09:00:00.000Z';
    expect(claimSlots(daily, since(last), at('2026-11-17T08:59:59.999Z'))).toBeUndefined();
    const claim = claimSlots(daily, since(last), at('2026-11-17T09:00:00.000Z'));
    expect(claim).toMatchObject({last: '2026-11-17T09:00:00.000Z', due: [{slot: '2026-11-17T09:00:00.000Z'}]});
    expect(claimSlots(daily, claim, at('2026-11-17T09:00:00.001Z'))).toBeUndefined();
    // What is claimed and not delivered yet stays.
    expect(claimSlots(daily, claim, at('2026-11-18T09:00:01Z'))?.due).toEqual([
      {slot: '2026-11-17T09:00:00.000Z'},
      {slot: '2026-11-18T09:00:00.000Z'},
    ]);
  });

  it('deals with what was missed as it says', () => {
    const last = '2026-11-14T09:00:00.000Z';
    const late = '2026-11-17T12:00:00Z';
    expect(claimed({...daily, missed: 'skip'}, last, late)).toBeUndefined();
    expect(claimed({...daily, missed: 'once'}, last, late)).toEqual(['2026-11-17T09:00:00.000Z 3']);
    expect(claimed(daily, last, late), 'once if left out').toEqual(['2026-11-17T09:00:00.000Z 3']);
    expect(claimed({...daily, missed: 'all'}, last, late)).toEqual([
      '2026-11-15T09:00:00.000Z 1',
      '2026-11-16T09:00:00.000Z 1',
      '2026-11-17T09:00:00.000Z 1',
    ]);
    // The last of them in time.
    const soon = '2026-11-17T09:00:30Z';
    expect(claimed({...daily, missed: 'skip'}, last, soon)).toEqual(['2026-11-17T09:00:00.000Z']);
    expect(claimed({...daily, missed: 'once'}, last, soon)).toEqual(['2026-11-17T09:00:00.000Z 2']);
    expect(claimed({...daily, missed: 'all'}, last, soon)?.at(-1)).toBe('2026-11-17T09:00:00.000Z');
    // Skipped times are dealt with, too.
    expect(claimSlots({...daily, missed: 'skip'}, since(last), at(late))?.last).toBe('2026-11-17T09:00:00.000Z');
  });

  it('delivers a bounded number of what was missed, and looks at no more', () => {
    const often: ScheduleSetting = {...daily, cron: '* * * * * *', missed: 'all'};
    const began = cpu();
    const due = claimSlots(often, since('2020-01-01T00:00:00.000Z'), at('2026-11-17T12:00:00Z'))?.due ?? [];
    expect(due).toHaveLength(MAX_MISSED);
    expect(due.at(-1)).toEqual({slot: '2026-11-17T12:00:00.000Z'});
    expect(cpu() - began).toBeLessThan(2_000);
    const late = claimSlots(
      {...often, cron: '0 * * * * *'},
      since('2020-01-01T00:00:00.000Z'),
      at('2026-11-17T12:01:30Z'),
    );
    expect(late?.due?.filter(({missed}) => missed === 1)).toHaveLength(MAX_MISSED - 1);
    const later = claimSlots(
      {...often, cron: '0 0 * * * *'},
      since('2020-01-01T00:00:00.000Z'),
      at('2026-11-17T12:30:00Z'),
    );
    expect(later?.due?.map(({missed}) => missed)).toEqual(Array(MAX_MISSED).fill(1));
    expect(
      claimSlots({...often, missed: 'once'}, since('2020-01-01T00:00:00.000Z'), at('2026-11-17T12:00:00Z'))?.due,
    ).toEqual([{slot: '2026-11-17T12:00:00.000Z', missed: MAX_MISSED}]);
  });

  it('is not due again when the clock goes back, and not silent for ever when it was wrong', () => {
    const known = since('2026-11-17T09:00:00.000Z');
    expect(claimSlots(daily, known, at('2026-11-17T08:30:00Z'))).toBeUndefined();
    expect(claimSlots(daily, known, at('2026-11-17T09:00:10Z'))).toBeUndefined();
    const wrong = since('2099-01-01T09:00:00.000Z');
    expect(claimSlots(daily, wrong, at('2026-11-17T08:30:00Z'))).toEqual({...wrong, last: '2026-11-17T08:30:00.000Z'});
  });

  it('is due once on a day when the clock is changed', () => {
    const night: ScheduleSetting = {...daily, cron: '30 2 * * *', timezone: 'Europe/Berlin'};
    const slots = (from: string, count: number) => {
      const found: string[] = [];
      for (let time = at(from); found.length < count; time = at(found.at(-1) ?? ''))
        found.push(new Date(nextSlot(night, time) ?? 0).toISOString());
      return found;
    };
    // There is no 02:30 on the one, and there are two on the other.
    expect(slots('2026-03-28T12:00:00Z', 2)).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']);
    expect(slots('2026-10-24T12:00:00Z', 2)).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']);
    for (const [from, to] of [
      ['2026-03-28T12:00:00.000Z', '2026-03-29T12:00:00Z'],
      ['2026-10-24T12:00:00.000Z', '2026-10-25T12:00:00Z'],
    ] as const)
      expect(claimed({...night, missed: 'all'}, from, to)).toHaveLength(1);
  });

  it('says what is late, and has an id for each time', () => {
    const slot = '2026-11-17T09:00:00.000Z';
    expect(slotWords(daily, {slot})).toBe('Plan the day');
    expect(slotWords(daily, {slot, missed: 1})).toBe(`Plan the day\n\n(This was due at ${slot}. No daemon ran then.)`);
    expect(slotWords(daily, {slot, missed: 3})).toContain(`due 3 times, the last at ${slot}`);
    const id = scheduleId(daily);
    expect(slotDelivery(id, {slot})).toBe(`schedule/${id}@${slot}`);
    expect(scheduleId({...daily, message: 'Plan the week'})).not.toBe(id);
    expect(scheduleId({...daily, missed: 'all'})).toBe(id);
  });

  it('that never comes again is never due', () => {
    const never = {...daily, cron: '0 0 30 2 *'};
    expect(nextSlot(never, at('2026-11-17T09:00:00Z'))).toBeUndefined();
    expect(claimSlots(never, since('2020-01-01T00:00:00.000Z'), at('2026-11-17T12:00:00Z'))).toBeUndefined();
  });
});
