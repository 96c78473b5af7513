import {z} from 'zod';
import {type Problem, refuseErrors} from './common/diagnostic.ts';
import {nestsRepetition} from './pattern.ts';
import {refuse, validate} from './yaml/validate.ts';
import {editYaml} from './yaml/yaml-edit.ts';
import {readQuickly} from './yaml/yaml-quick.ts';

function compiles(source: string): boolean {
  if (nestsRepetition(source)) return false;
  try {
    new RegExp(source, 'iu');
    return true;
  } catch {
    return false;
  }
}

const pattern = z
  .string()
  .refine(
    compiles,
    refuse(
      'BAD_PATTERN',
      'expected a regular expression without a repetition inside a repetition',
      'simplify it, for example to redis.*(up|running)',
    ),
  );

const whenSchema = z.looseObject({
  agent: z.string().optional().describe('A glob over agent ids.'),
  role: z.enum(['user', 'tool_result', 'any']).optional().describe('Of the last message; user if left out.'),
  from: z.string().optional().describe('A glob over where the message came from.'),
  text: pattern
    .optional()
    .describe('A regular expression, upper and lower case alike; its captures can be used below.'),
  tool: z.string().optional().describe('The tool whose result this is.'),
  success: z.boolean().optional().describe('Whether that call succeeded.'),
});

const ruleSchema = z
  .looseObject({
    name: z.string().optional(),
    when: whenSchema.optional(),
    say: z
      .string()
      .optional()
      .describe('The answer; {{ 1 }}, {{ name }}, {{ text }}, {{ list }} and {{ agent }} are filled in.'),
    call: z
      .array(z.looseObject({tool: z.string().min(1), arguments: z.looseObject({}).optional()}))
      .min(1)
      .optional(),
    once: z.boolean().optional().describe('Only the first time in a session.'),
  })
  .refine(
    rule => rule.say !== undefined || rule.call !== undefined,
    refuse('MISSING_KEY', 'expected "say" or "call" in a rule, found neither', 'add what to say or which tool to call'),
  )
  .meta({anyOf: [{required: ['say']}, {required: ['call']}]});

export const playbookSchema = z
  .looseObject({version: z.literal(1), description: z.string().optional(), rules: z.array(ruleSchema)})
  .meta({
    title: 'Agentdir playbook',
    description: 'A script for the built-in model: the first rule that matches the last message answers',
  });

export type Playbook = z.infer<typeof playbookSchema>;
export type PlaybookRule = z.infer<typeof ruleSchema>;

export interface PlaybookFile {
  text: string;
  value: Playbook | undefined;
  problems: Problem[];
}

/** Must not throw. */
export function parsePlaybook(text: string): PlaybookFile {
  return {text, ...validate(playbookSchema, readQuickly(text), 'write "version: 1" and "rules:"')};
}

export function addPlaybookRule(text: string, rule: PlaybookRule): string {
  refuseErrors(parsePlaybook(text).problems);
  return editYaml(text, {append: ['rules'], item: rule});
}

export function stringifyPlaybook(file: PlaybookFile): string {
  return file.text;
}
