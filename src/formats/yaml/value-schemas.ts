import {z} from 'zod';
import {DURATION_PATTERN, durationMs, ID_PATTERN, isId, isTime, TIME_PATTERN} from '../common/values.ts';
import {refuse} from './validate.ts';

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

export const duration = z
  .string()
  .refine(
    text => durationMs(text) !== undefined,
    refuse('BAD_DURATION', 'expected a number and s, m, h, d or w, such as 7d', 'write for example 36h'),
  )
  .meta({pattern: DURATION_PATTERN.source});
