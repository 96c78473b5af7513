import {z} from 'zod';
import type {Verdict} from '../../formats/rule.ts';

/**
 * `read` may be repeated freely, `write` changes the home or the machine, `outside` leaves the home. `deliver` changes
 * files of the home through the daemon, with an id derived from the call: an interrupted call is simply repeated and
 * takes effect once.
 */
export type ToolEffect = 'read' | 'write' | 'outside' | 'deliver';

export interface ToolDefinition {
  effect: ToolEffect;
  /** For the model: what the tool does and when to use it. */
  description: string;
  arguments: z.ZodObject;
  /** Verdict without a rule in the policy. */
  default: Verdict;
  /** Ask a person each time, whatever a rule allows. */
  alwaysAsks?: true;
  /** Fields of a result besides `success`, for tools that can run. A `?` marks optional fields. */
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
