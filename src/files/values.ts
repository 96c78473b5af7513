import {z} from 'zod';
import {refuse} from './validate.ts';

/** Ids of agents, sessions, tasks and approvals (FORMATS, rules for all). */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function isId(text: string): boolean {
  return ID_PATTERN.test(text);
}

const TIME_PATTERN = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** Written as ISO 8601 UTC with milliseconds; read in every common ISO form. */
export function isTime(text: string): boolean {
  if (!TIME_PATTERN.test(text) || Number.isNaN(Date.parse(text))) return false;
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

export const id = z
  .string()
  .refine(
    isId,
    refuse(
      'BAD_ID',
      'expected an id of letters, digits, ".", "_" and "-", at most 128, beginning with a letter or digit',
      'choose a simpler id',
    ),
  )
  .meta({pattern: ID_PATTERN.source});

export const time = z
  .string()
  .refine(
    isTime,
    refuse('BAD_TIME', 'expected a time such as 2025-10-04T10:05:23.000Z', 'write it in ISO 8601, in quotes'),
  )
  .meta({pattern: TIME_PATTERN.source});

const UNITS = {s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000} as const;

const DURATION_PATTERN = /^(\d{1,9})\s*([smhdw])$/;

/** "7d", "36h", "90s" → milliseconds. */
export function durationMs(text: string): number | undefined {
  const match = DURATION_PATTERN.exec(text);
  return match ? Number(match[1]) * UNITS[match[2] as keyof typeof UNITS] : undefined;
}

export const duration = z
  .string()
  .refine(
    text => durationMs(text) !== undefined,
    refuse('BAD_DURATION', 'expected a number and s, m, h, d or w, such as 7d', 'write for example 36h'),
  )
  .meta({pattern: DURATION_PATTERN.source});
