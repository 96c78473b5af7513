import {z} from 'zod';
import {agentMentions} from './channel.ts';
import {hasErrors, nearest, type Place, type Problem, problem, refuseErrors} from './common/diagnostic.ts';
import {limitsSchema} from './template.ts';
import {isEnvVariable, RESERVED_VARIABLES, variablesIn} from './workflow-variables.ts';
import {refuse, validate} from './yaml/validate.ts';
import {id} from './yaml/value-schemas.ts';
import {editYaml} from './yaml/yaml-edit.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {type Path, placeOfValue} from './yaml/yaml-source.ts';

/** A place below the home: `./my-context/`. */
const isInside = (path: string) => !/^[/\\~]|^[A-Za-z]:/.test(path) && !path.split(/[/\\]/).includes('..');

const inside = z
  .string()
  .min(1)
  .refine(
    isInside,
    refuse('BAD_VALUE', 'expected a path below the home, without ".."', 'write for example ./my-context/'),
  );

const place = z.union([z.literal(true), z.null(), z.looseObject({file: inside.optional()})]);

const contextSchema = z.looseObject({
  provider: z
    .enum(['file', 'memory'])
    .optional()
    .describe('memory: channel and document are not files of the home, for dry runs and tests.'),
  dir: inside.optional().describe('Where links to the channel and the document are put.'),
  channel: place.optional(),
  document: place.optional(),
});

const agentSchema = z
  .looseObject({
    template: id.optional().describe('An agent of the home to start from.'),
    model: z.string().min(1).optional().describe('The default model if left out.'),
    system_prompt: z.string().min(1).optional().describe('The prompt itself, or the path of a file with it.'),
    tools: z.array(z.string().min(1)).nullable().optional(),
    description: z.string().optional(),
    type: z.string().min(1).optional(),
    limits: limitsSchema.optional(),
    backend: z
      .union([z.string().min(1), z.looseObject({})])
      .optional()
      .describe('What runs the agent; sdk, this program itself, if left out.'),
  })
  .refine(
    agent => agent.system_prompt !== undefined || agent.template !== undefined,
    refuse('MISSING_KEY', 'expected "system_prompt" or "template" of an agent, found neither', 'add "system_prompt:"'),
  )
  .meta({anyOf: [{required: ['system_prompt']}, {required: ['template']}]});

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const paramShape = {
  description: z.string().optional(),
  type: z.enum(['string', 'number', 'boolean']).optional(),
  default: scalar.nullable().optional(),
  required: z.boolean().optional(),
};

const paramsSchema = z
  .union([
    z.array(z.looseObject({name: id, short: z.string().optional(), ...paramShape})),
    z.record(id, z.union([scalar, z.null(), z.looseObject(paramShape)])),
  ])
  .describe('Values given on the command line as --NAME value, and used as ${{ params.NAME }}.');

export const workflowSchema = z
  .looseObject({
    name: z.string().min(1).optional().describe('The file name if left out.'),
    description: z.string().optional(),
    params: paramsSchema.nullable().optional(),
    context: z
      .union([z.literal(true), z.null(), contextSchema])
      .optional()
      .describe('Channel and document the agents share; an empty "context:" gives both.'),
    agents: z.record(id, agentSchema),
    setup: z
      .array(
        z.looseObject({
          shell: z.string().min(1),
          as: id.optional(),
          timeout_seconds: z.number().positive().optional().describe('600 if left out.'),
        }),
      )
      .nullable()
      .optional(),
    kickoff: z.string().min(1).describe('The first message; whom it mentions begins.'),
  })
  .meta({
    title: 'Agentdir workflow',
    description: 'Agents that work together through a channel and a document: workflows/*.workflow.yaml',
  });

export type Workflow = z.infer<typeof workflowSchema>;
export type WorkflowAgent = Workflow['agents'][string];

export interface WorkflowFile {
  text: string;
  value: Workflow | undefined;
  problems: Problem[];
  /** Where a value stands in the text. */
  placeOf: (path: Path) => Place;
}

/** Options of `agentdir run` that a parameter cannot have as its name. */
const OPTIONS = ['instance', 'verbose', 'json', 'home', 'help', 'background', 'retry', 'all', 'once', 'version'];

/** Must not throw. */
export function parseWorkflow(text: string): WorkflowFile {
  const source = readQuickly(text);
  const {value, problems} = validate(workflowSchema, source, 'write at least "agents:" and "kickoff:"');
  const at = (path: Path) => placeOfValue(source, path);
  const isOld = Array.isArray((source.value as {tasks?: unknown} | null | undefined)?.tasks);
  if (!value)
    return {
      text,
      value,
      placeOf: at,
      problems: isOld
        ? problems.map(each => ({
            ...each,
            hint: `${each.hint}; to convert a file with "tasks:": agentdir migrate FILE`,
          }))
        : problems,
    };
  const params = workflowParams(value);
  for (const {name} of params)
    if (OPTIONS.includes(name))
      problems.push(
        problem(
          'BAD_VALUE',
          at(['params']),
          `expected a parameter that is no option of agentdir run, got "${name}"`,
          'choose another name',
        ),
      );
  for (const name of ['human', 'system'])
    if (Object.hasOwn(value.agents, name))
      problems.push(
        problem(
          'BAD_VALUE',
          at(['agents', name]),
          `expected a name that is free, got "${name}", under which ${name === 'human' ? 'people write' : 'the kickoff comes'}`,
          'choose another name',
        ),
      );
  const known = [...RESERVED_VARIABLES, ...params.flatMap(({name}) => [`params.${name}`, name])];
  const {context} = value;
  if (context && context !== true) {
    const ofPaths = known.filter(name => !name.startsWith('context.'));
    for (const [path, words] of [
      [['context', 'dir'], context.dir],
      [['context', 'channel', 'file'], fileOf(context.channel)],
      [['context', 'document', 'file'], fileOf(context.document)],
    ] as const)
      problems.push(...unknownVariables(words ?? '', ofPaths, () => at([...path])));
  }
  for (const [i, step] of (value.setup ?? []).entries()) {
    problems.push(...unknownVariables(step.shell, known, () => at(['setup', i, 'shell'])));
    if (step.as) known.push(step.as);
  }
  problems.push(...unknownVariables(value.kickoff, known, () => at(['kickoff'])));
  if (agentMentions(value.kickoff, Object.keys(value.agents)).names.length === 0) {
    const names = Object.keys(value.agents).map(name => `@${name}`);
    problems.push(
      problem(
        'NOBODY_MENTIONED',
        at(['kickoff']),
        'expected the kickoff to mention an agent, found nobody to begin',
        names.length > 0 ? `mention ${names.join(' or ')}` : 'add an agent',
      ),
    );
  }
  return {text, value: hasErrors(problems) ? undefined : value, problems, placeOf: at};
}

function fileOf(value: z.infer<typeof place> | undefined): string | undefined {
  return value && value !== true ? value.file : undefined;
}

function unknownVariables(text: string, known: readonly string[], where: () => Place): Problem[] {
  return variablesIn(text)
    .filter(name => !known.includes(name) && !isEnvVariable(name))
    .map(name => {
      const near = nearest(name, known);
      return problem(
        'UNKNOWN_VARIABLE',
        where(),
        `expected a known variable, got \${{ ${name} }}`,
        near ? `did you mean \${{ ${near} }}?` : `known here: ${known.join(', ')}, env.NAME`,
      );
    });
}

export interface WorkflowParam {
  name: string;
  description?: string | undefined;
  /** Undefined: it must be given. */
  fallback: string | undefined;
  isFlag: boolean;
}

/** The parameters of a workflow, in either form. A parameter without default is required unless it says otherwise. */
export function workflowParams({params}: Pick<Workflow, 'params'>): WorkflowParam[] {
  const rows: {name: string; given: Record<string, unknown>}[] = Array.isArray(params)
    ? params.map(({name, ...given}) => ({name, given}))
    : Object.entries(params ?? {}).map(([name, given]) => ({
        name,
        given: given !== null && typeof given === 'object' ? given : {default: given},
      }));
  return rows.map(({name, given}) => {
    const {
      description,
      type,
      default: value,
      required,
    } = given as {
      description?: string;
      type?: string;
      default?: string | number | boolean | null;
      required?: boolean;
    };
    const isFlag = type === 'boolean' || typeof value === 'boolean';
    const optional = required === false || isFlag ? (isFlag ? 'false' : '') : undefined;
    return {name, description, isFlag, fallback: value === null || value === undefined ? optional : String(value)};
  });
}

/** What the agents of an instance share. */
export interface WorkflowContext {
  provider: 'file' | 'memory';
  /** Whether agents have tools for it. */
  channel: boolean;
  document: boolean;
  /** Where links are wanted, with variables, if not at the usual place. */
  dir: string | undefined;
  channelFile: string | undefined;
  documentFile: string | undefined;
}

/** Without `context:`, agents share nothing. With an empty one, or one that names neither, they share both. */
export function workflowContext({context}: Pick<Workflow, 'context'>): WorkflowContext {
  if (context === undefined)
    return {
      provider: 'file',
      channel: false,
      document: false,
      dir: undefined,
      channelFile: undefined,
      documentFile: undefined,
    };
  const given = context && context !== true ? context : {};
  const all = given.channel === undefined && given.document === undefined;
  return {
    provider: given.provider ?? 'file',
    channel: all || given.channel !== undefined,
    document: all || given.document !== undefined,
    dir: given.dir,
    channelFile: fileOf(given.channel),
    documentFile: fileOf(given.document),
  };
}

/** Backends that this version or a later one runs. */
const BACKENDS: ReadonlySet<string> = new Set(['sdk', 'mock', 'claude', 'codex', 'opencode', 'gemini']);

/** `mock`: the scripted model of agent-worker; here the default model, which is the playbook where no key is set. */
export function runsHere({backend}: WorkflowAgent): boolean {
  return backend === undefined || backend === 'sdk' || backend === 'default' || backend === 'mock';
}

export function isKnownBackend({backend}: WorkflowAgent): boolean {
  if (backend === undefined || typeof backend !== 'string')
    return backend === undefined || 'acp' in backend || 'command' in backend;
  return BACKENDS.has(backend) || backend === 'default';
}

/** The path in `system_prompt`, if it is one. */
export function promptPath({system_prompt: prompt = ''}: Pick<WorkflowAgent, 'system_prompt'>): string | undefined {
  const text = prompt.trim();
  if (text === '' || /\s/.test(text) || text.length > 300) return undefined;
  return /^\.{0,2}\//.test(text) || /\.(?:md|markdown|txt|prompt)$/i.test(text) ? text : undefined;
}

export function setWorkflowField(text: string, path: Path, value: unknown): string {
  refuseErrors(parseWorkflow(text).problems);
  return editYaml(text, {set: path, to: value});
}

export function stringifyWorkflow(file: WorkflowFile): string {
  return file.text;
}
