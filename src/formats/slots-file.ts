import {z} from 'zod';
import type {Problem} from './common/diagnostic.ts';
import {SLOTS_FILE} from './common/key.ts';
import {validate} from './yaml/validate.ts';
import {time} from './yaml/value-schemas.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {yamlText} from './yaml/yaml-text.ts';

const claimed = z.looseObject({
  slot: time.describe('The time that it was due at.'),
  missed: z.int().min(1).optional().describe('How many times no daemon ran when it was due, up to this one.'),
});

const slots = z.looseObject({
  cron: z.string(),
  to: z.string(),
  last: time.describe('All times up to this are dealt with.'),
  due: z.array(claimed).optional().describe('Claimed, and not delivered yet.'),
});

export const slotsSchema = z.looseObject({schedules: z.record(z.string(), slots)}).meta({
  title: 'Agentdir schedule slots',
  description: 'state/schedules.yaml: which times of the schedules are dealt with, written by the daemon',
});

/** A claimed time: its message is delivered exactly once. */
export type ClaimedSlot = z.infer<typeof claimed>;
export type ScheduleSlots = z.infer<typeof slots>;
export type AllSlots = Record<string, ScheduleSlots>;

export interface SlotsFile {
  text: string;
  value: {schedules: AllSlots} | undefined;
  problems: Problem[];
}

/** Must not throw. */
export function parseSlots(text: string): SlotsFile {
  const hint = `take an earlier version from git (git log -- ${SLOTS_FILE}), or delete this file to reset all schedules`;
  const {value, problems} = validate(slotsSchema, readQuickly(text), hint);
  return {text, value, problems: problems.map(each => ({...each, hint}))};
}

export function slotsText(schedules: AllSlots): string {
  return `# yaml-language-server: $schema=../schemas/slots.json
# Which times of the schedules in agentdir.yaml are dealt with. The daemon writes this.
${yamlText({schedules})}`;
}

export function stringifySlots(file: SlotsFile): string {
  return file.text;
}
