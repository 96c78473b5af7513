import {z} from 'zod';
import type {Problem} from './common/diagnostic.ts';
import {limitsSchema, type TemplateValue} from './template.ts';
import {validate} from './yaml/validate.ts';
import {id, time} from './yaml/value-schemas.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {yamlText} from './yaml/yaml-text.ts';

export const runStatuses = ['running', 'idle', 'stopped', 'failed'] as const;
export type WorkflowStatus = (typeof runStatuses)[number];

const stepStatuses = ['pending', 'running', 'done', 'failed', 'interrupted'] as const;

/** An agent of an instance, as its workflow file described it at the start. */
const memberSchema = z.looseObject({
  template: id.optional().describe('The agent of the home that it is based on, whose other keys are always read live.'),
  type: z.string().optional(),
  description: z.string().optional(),
  model: z.string().min(1).optional(),
  system_prompt: z.string().min(1).optional(),
  tools: z.array(z.string().min(1)).optional().describe("Besides the context's own; the template's if left out."),
  limits: limitsSchema.optional(),
});

const stepSchema = z.looseObject({
  shell: z.string(),
  as: z.string().optional(),
  timeout_seconds: z.number().positive().optional(),
  status: z.enum(stepStatuses).describe('running, or interrupted, without an end: nobody knows what it did.'),
  started: time.optional(),
  ended: time.optional(),
  exit_code: z.int().optional(),
  output: z.string().optional().describe('What it printed, cut in the middle if long.'),
  file: z.string().optional().describe('The whole of a long output.'),
  error: z.string().optional(),
});

const cursorSchema = z.looseObject({
  read: z.int().min(0).describe('How many entries of the channel the agent has had.'),
  head: z.string().optional().describe('The head of the last of them.'),
  call: z
    .string()
    .optional()
    .describe('The last call of channel_read, and where it began: a repeated call gets the same entries.'),
  from: z.int().min(0).optional(),
});

export const runSchema = z
  .looseObject({
    workflow: z
      .string()
      .min(1)
      .describe('The workflow file, in the home or elsewhere; "none" for agents that were added by hand.'),
    commit: z.string().optional().describe("The file's last commit."),
    digest: z.string().optional().describe('SHA-256 of the file as it was at the start.'),
    name: z.string().min(1),
    instance: id,
    status: z.enum(runStatuses).describe('A person may set stopped, or running again.'),
    error: z.string().optional().describe('Of status failed: the reason.'),
    waiting_for: z.array(z.string()).optional().describe('Sessions that wait for a person. Written by the daemon.'),
    started: time,
    updated: time.optional(),
    by: z.string().optional(),
    params: z.record(z.string(), z.string()).optional(),
    context: z.looseObject({
      provider: z.enum(['file', 'memory']).optional(),
      channel: z.boolean().optional().describe('Whether agents have tools for the channel.'),
      document: z.boolean().optional(),
      channel_link: z.string().optional().describe('Where the workflow wants the channel to be: a link.'),
      document_link: z.string().optional(),
    }),
    agents: z.record(id, id).describe('The session of each agent.'),
    definitions: z.record(id, memberSchema),
    setup: z.array(stepSchema).optional(),
    kickoff: z
      .looseObject({text: z.string(), at: time, posted: z.boolean().optional()})
      .optional()
      .describe('Set once the setup is done; the daemon posts it to the channel, once.'),
    cursors: z.record(z.string(), cursorSchema).optional(),
    tainted: z.array(z.string()).optional().describe('Where text from outside came into the channel or the document.'),
  })
  .meta({
    title: 'Agentdir workflow instance',
    description: '.workflow/<instance>/run.yaml: one instance of a workflow',
  });

export type Run = z.infer<typeof runSchema>;
export type RunMember = z.infer<typeof memberSchema>;
export type SetupStep = z.infer<typeof stepSchema>;
export type ChannelCursor = z.infer<typeof cursorSchema>;

export interface RunFile {
  text: string;
  value: Run | undefined;
  problems: Problem[];
}

/** Must not throw. */
export function parseRun(text: string): RunFile {
  const hint = 'take an earlier version from git, or remove the folder to start over';
  return {text, ...validate(runSchema, readQuickly(text), hint)};
}

const RUN_HEAD = `# yaml-language-server: $schema=../../schemas/run.json
# One instance of a workflow. To stop it: agentdir stop @INSTANCE, or set "status: stopped".
`;

export function runText(run: Run): string {
  return RUN_HEAD + yamlText(run);
}

export function stringifyRun(file: RunFile): string {
  return file.text;
}

/** The folder of an instance, and its files. */
export function runPath(instance: string): string {
  return `.workflow/${instance}/run.yaml`;
}

export function channelPath(instance: string): string {
  return `.workflow/${instance}/channel.md`;
}

export function documentPath(instance: string): string {
  return `.workflow/${instance}/notes.md`;
}

/** Whether channel and document are no files of the home. */
export function isInMemory({context}: Pick<Run, 'context'>): boolean {
  return context.provider === 'memory';
}

/** The instance that a file below `.workflow/` belongs to. */
export function instanceOf(path: string): string | undefined {
  return /^\.workflow\/([^/]+)\//.exec(path)?.[1];
}

/** `reviewer@pr-123` → its parts. Undefined: an agent of the home itself. */
export function memberOf(agent: string): {name: string; instance: string} | undefined {
  const [, name, instance] = /^([^@/]+)@([^@/]+)$/.exec(agent) ?? [];
  return name === undefined || instance === undefined ? undefined : {name, instance};
}

/** The folder with an agent's sessions, and the id of its shared session: `sessions/pr-123/` and `reviewer.pr-123`. */
export function sessionPlaceOf(agent: string): {folder: string; shared: string} {
  const member = memberOf(agent);
  if (!member) return {folder: `sessions/${agent}/`, shared: `${agent.slice(0, 100)}-shared`};
  return {folder: `sessions/${member.instance}/`, shared: `${member.name}.${member.instance}`};
}

const CHANNEL_TOOLS = ['channel_send', 'channel_read', 'channel_peek'];
const DOCUMENT_TOOLS = ['document_read', 'document_write', 'document_append'];

/** The tools that an agent has because of its instance's context. */
export function toolsOfContext({channel, document}: Pick<Run['context'], 'channel' | 'document'>): string[] {
  return [...(channel ? CHANNEL_TOOLS : []), ...(document ? DOCUMENT_TOOLS : [])];
}

/** The template of an agent of an instance. `base`: the template that its definition names. Undefined: there is no such agent, or no base. */
export function memberTemplate(
  {context, definitions, instance, name: workflow}: Run,
  name: string,
  base: TemplateValue | undefined,
): TemplateValue | undefined {
  const own = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (!own || (own.template !== undefined && !base)) return undefined;
  const {template: _, tools, ...rest} = own;
  const prompt = own.system_prompt ?? base?.system_prompt;
  if (prompt === undefined) return undefined;
  return {
    ...base,
    ...rest,
    id: `${name}@${instance}`,
    type: own.type ?? base?.type ?? workflow,
    system_prompt: prompt,
    capabilities: [...new Set([...(tools ?? base?.capabilities ?? []), ...toolsOfContext(context)])],
    ...(base?.limits || own.limits ? {limits: {...base?.limits, ...own.limits}} : {}),
  };
}
