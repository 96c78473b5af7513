import {z} from 'zod';

/** `compaction:` in agentdir.yaml, or in a template, where it has precedence. */
export const compactionSchema = z
  .looseObject({
    at: z
      .number()
      .gt(0)
      .max(1)
      .optional()
      .describe(
        'The part of the context window that a request may fill before the session is compacted; 0.8 if left out.',
      ),
    keep_messages: z
      .int()
      .min(0)
      .optional()
      .describe('How many of the last messages stay as they are; 20 if left out.'),
  })
  .describe('When and how sessions are compacted.');

export interface CompactionSettings {
  at: number;
  keep: number;
}

type Given = z.infer<typeof compactionSchema> | null | undefined;

/** The settings in force: the template's, then the home's, then the defaults. */
export function compactionSettings(template: Given, home: Given): CompactionSettings {
  return {at: template?.at ?? home?.at ?? 0.8, keep: template?.keep_messages ?? home?.keep_messages ?? 20};
}
