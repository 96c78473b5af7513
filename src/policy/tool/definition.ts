import {z} from 'zod';
import type {Verdict} from '../../formats/rule.ts';

/**
 * `read` may be repeated freely, `write` changes the home or the machine, `outside` leaves the home. `deliver` changes files
 * of the home by way of the daemon, under an id that follows from the call: found started and not ended, it is simply made
 * again, and changes nothing twice.
 */
export type ToolEffect = 'read' | 'write' | 'outside' | 'deliver';

export interface ToolDefinition {
  effect: ToolEffect;
  /** For the model: what it does and when to use it. */
  description: string;
  arguments: z.ZodObject;
  /** The verdict where the policy has no rule for it. */
  default: Verdict;
  /** A person is asked each time, whatever a rule allows. */
  alwaysAsks?: true;
  /** Of a tool that can run: the fields of a result, beside `success`. With a `?` those that are not always there. */
  result?: Readonly<Record<string, string>>;
}

export const textArgument = (what: string) => z.string().describe(what);
export const nameArgument = (what: string) => z.string().min(1).describe(what);
export const pathArgument = nameArgument('Path within the workspace, or under memory/ or tasks/.');
export const ownPathArgument = nameArgument('Path within the workspace.');
export const countArgument = (what: string) => z.number().int().positive().describe(what);
export const flagArgument = (what: string) => z.boolean().describe(what);
export const reasonArgument = textArgument(
  'Why this is needed, in one sentence; the person who decides reads it.',
).optional();
export const priorityArgument = z
  .string()
  .regex(/^([A-D]|high|medium|low)$/)
  .describe('A is most urgent; high, medium and low are A, B and C.');
