import {z} from 'zod';
import type {Problem} from './common/diagnostic.ts';
import {isTime} from './common/values.ts';
import type {Spent} from './session/spent.ts';
import {refuse, validate} from './yaml/validate.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {yamlText} from './yaml/yaml-text.ts';

const day = z
  .string()
  .refine(
    text => /^\d{4}-\d\d-\d\d$/.test(text) && isTime(text),
    refuse('BAD_TIME', 'expected a day such as 2025-10-04', 'delete the file; the daemon writes it again'),
  )
  .meta({pattern: '^\\d{4}-\\d\\d-\\d\\d$'});

const spent = z.looseObject({
  turns: z.int().min(0),
  input_tokens: z.int().min(0),
  output_tokens: z.int().min(0),
  cost_usd: z.number().min(0).optional().describe('Left out if it is unknown.'),
  unpriced_tokens: z.int().min(0).optional().describe('Tokens of models without a price, which are not in cost_usd.'),
});

export const spendSchema = z
  .looseObject({
    day: day.describe('In UTC.'),
    agents: z.record(z.string(), spent).describe('What the sessions of each agent came to on that day.'),
  })
  .meta({
    title: 'Agentdir spend',
    description: 'state/spend.yaml: what the day has cost so far, written by the daemon',
  });

export interface DaySpend {
  day: string;
  agents: Record<string, Spent>;
}

export interface SpendFile {
  text: string;
  value: DaySpend | undefined;
  problems: Problem[];
}

/** Must not throw. */
export function parseSpend(text: string): SpendFile {
  const {value, problems} = validate(spendSchema, readQuickly(text), 'delete the file; the daemon writes it again');
  return {text, value: value && {...value, agents: mapped(value.agents, known)}, problems};
}

/** Without unknown keys. */
function known({turns, input_tokens, output_tokens, cost_usd = 0, unpriced_tokens = 0}: z.infer<typeof spent>): Spent {
  return {turns, input_tokens, output_tokens, cost_usd, unpriced_tokens};
}

/** An unknown cost is left out: 0 would be a lie. */
function written({cost_usd, unpriced_tokens, ...rest}: Spent): z.infer<typeof spent> {
  if (unpriced_tokens === 0) return {...rest, cost_usd};
  return {...rest, ...(cost_usd > 0 && {cost_usd}), unpriced_tokens};
}

function mapped<A, B>(agents: Record<string, A>, change: (spent: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(agents).map(([name, each]) => [name, change(each)]));
}

export function spendText(value: DaySpend): string {
  return `# yaml-language-server: $schema=../schemas/spend.json
# What the agents have used on this day (UTC). The daemon writes this; to let them use more, raise their limits.
${yamlText({...value, agents: mapped(value.agents, written)})}`;
}

export function stringifySpend(file: SpendFile): string {
  return file.text;
}
