import {z} from 'zod';
import {workspaceSchema} from './clone-address.ts';
import {type Problem, problem} from './common/diagnostic.ts';
import {notYet} from './common/no-effect.ts';
import {compactionSchema} from './compaction.ts';
import {validate} from './yaml/validate.ts';
import {id} from './yaml/value-schemas.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {type Path, placeOfValue} from './yaml/yaml-source.ts';
import {yamlText} from './yaml/yaml-text.ts';

export const limitsSchema = z.looseObject({
  max_turns: z.int().min(1).optional().describe('Model calls for one piece of work before it pauses and asks.'),
  max_tokens: z.int().min(1).optional(),
  max_cost_usd: z.number().min(0).optional(),
  task_timeout_seconds: z
    .number()
    .positive()
    .optional()
    .describe('Longest time the agent may take for one task that another agent gives it; 1800 if left out.'),
  call_timeout_seconds: z.number().positive().optional().describe('Longest time one tool call may take.'),
});

/** Keys common to all forms of a template. */
const optionalKeys = {
  description: z.string().optional(),
  model: z
    .string()
    .min(1)
    .optional()
    .describe('A model id or nickname of agentdir.yaml; "default" is its default_model.'),
  context: z.enum(['shared', 'fresh']).optional().describe('fresh: a new session for each task.'),
  limits: limitsSchema.optional(),
  compaction: compactionSchema.optional(),
  compact_model: z
    .string()
    .min(1)
    .optional()
    .describe('The model that writes the checkpoints of its sessions; their own model if left out.'),
  persistent: z.boolean().optional(),
  auto_start: z.boolean().optional(),
  max_idle_seconds: z.number().positive().optional(),
  isolation: z.enum(['none', 'process']).optional(),
  workspace: workspaceSchema.optional(),
  mcp_servers: z.record(z.string(), z.looseObject({})).optional(),
  ephemeral: z
    .boolean()
    .optional()
    .describe('The agent is for one piece of work: once it is done, lists leave it out.'),
  spawned_by: z.string().min(1).optional().describe('Who added the agent: human, or @AGENT. Written by Agentdir.'),
  spawned_in: z
    .looseObject({session: z.string().optional(), call: z.string().optional()})
    .optional()
    .describe('The call of agent_spawn that added it. Written by the daemon.'),
  tainted: z
    .array(z.string())
    .optional()
    .describe('Where the words of whoever added it may come from: its sessions begin tainted. Written by the daemon.'),
  metadata: z.looseObject({}).nullable().optional(),
};

const capabilities = z
  .array(z.string().min(1))
  .describe('All tools the agent is offered and may run; [] is an agent without tools.');

export const templateSchema = z
  .looseObject({
    id: id.describe('The file name without .agent.yaml.'),
    type: z.string().min(1),
    system_prompt: z.string().min(1),
    capabilities,
    ...optionalKeys,
  })
  .meta({title: 'Agentdir agent template', description: 'A reusable agent: templates/<id>.agent.yaml'});

/** Front matter of Claude Code's Markdown dialect. */
export const frontMatterSchema = z.looseObject({
  name: z.string().min(1),
  tools: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  type: z.string().min(1).optional(),
  ...optionalKeys,
});

export type TemplateValue = z.infer<typeof templateSchema>;

export interface Capability {
  name: string;
  line: number;
  column: number;
}

export interface TemplateFile {
  text: string;
  form: 'yaml' | 'sections' | 'front-matter';
  /** Undefined if the file has an error. */
  value: TemplateValue | undefined;
  capabilities: Capability[];
  problems: Problem[];
}

const EMPTY_HINT = 'write at least id, type, system_prompt and capabilities';

/** `stem`: file name without its ending, which the id must equal. Must not throw. */
export function parseTemplate(text: string, stem: string): TemplateFile {
  const source = readQuickly(text);
  const {value, problems} = validate(templateSchema, source, EMPTY_HINT, notYet.template);
  const named = (source.value as {id?: unknown} | null | undefined)?.id;
  if (typeof named === 'string' && named !== stem) {
    problems.push(
      problem(
        'NAME_MISMATCH',
        placeOfValue(source, ['id']),
        `expected the id "${stem}" as in the file name, got "${named}"`,
        `write "id: ${stem}", or rename the file to ${named}.agent.yaml`,
      ),
    );
  }
  const names = (source.value as {capabilities?: unknown} | null)?.capabilities;
  const at = (path: Path) => placeOfValue(source, path);
  const list =
    value && Array.isArray(names) ? value.capabilities.map((name, i) => ({name, ...at(['capabilities', i])})) : [];
  return {
    text,
    form: 'yaml',
    value: problems.some(p => p.severity === 'error') ? undefined : value,
    capabilities: list,
    problems,
  };
}

/** Text of a new template file. `schema`: path from the file to schemas/agent.json. */
export function newTemplate(value: TemplateValue, schema: string): string {
  return `# yaml-language-server: $schema=${schema}\n${yamlText(value)}`;
}

export function stringifyTemplate(file: TemplateFile): string {
  return file.text;
}
