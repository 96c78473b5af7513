import {z} from 'zod';
import type {Problem} from './common/diagnostic.ts';
import {HOLDS_FILE} from './common/key.ts';
import {validate} from './yaml/validate.ts';
import {time} from './yaml/value-schemas.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {yamlText} from './yaml/yaml-text.ts';

const hold = z.looseObject({
  status: z.enum(['stopped', 'failed']).describe('stopped: by a person. Nothing is asked or run for the agent.'),
  at: time.optional(),
  by: z.string().optional(),
  why: z.string().optional(),
});

export const holdsSchema = z.looseObject({agents: z.record(z.string(), hold).nullable().optional()}).meta({
  title: 'Agentdir held agents',
  description: 'state/agents.yaml: agents that are stopped, until agentdir agents start NAME',
});

/** Why nothing is asked or run for an agent. */
export type AgentHold = z.infer<typeof hold>;

export interface HoldsFile {
  text: string;
  value: Readonly<Record<string, AgentHold>> | undefined;
  problems: Problem[];
}

/** Must not throw. */
export function parseHolds(text: string): HoldsFile {
  const hint = `take an earlier version from git (git log -- ${HOLDS_FILE}), or delete this file to start all agents`;
  const {value, problems} = validate(holdsSchema, readQuickly(text), hint);
  return {text, value: value && (value.agents ?? {}), problems: problems.map(each => ({...each, hint}))};
}

export function holdsText(agents: Readonly<Record<string, AgentHold>>): string {
  return `# yaml-language-server: $schema=../schemas/holds.json
# Agents that are stopped: nothing is asked or run for them. To start one: agentdir agents start NAME
${yamlText({agents})}`;
}

export function stringifyHolds(file: HoldsFile): string {
  return file.text;
}

/** Why an agent is held, if it is. Agents of workflow instances have names of their own: `coder@pr-123`. */
export function holdOf(holds: HoldsFile['value'], agent: string): AgentHold | undefined {
  return holds && Object.hasOwn(holds, agent) ? holds[agent] : undefined;
}
