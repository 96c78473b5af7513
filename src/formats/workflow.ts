import {z} from 'zod';
import {mentionsIn} from './channel.ts';
import {nearest, type Problem, problem, refuseErrors} from './common/diagnostic.ts';
import {validate} from './yaml/validate.ts';
import {id} from './yaml/value-schemas.ts';
import {editYaml} from './yaml/yaml-edit.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {type Path, placeOfValue} from './yaml/yaml-source.ts';

const place = z.union([z.literal(true), z.null(), z.looseObject({file: z.string().min(1).optional()})]);

export const workflowSchema = z
  .looseObject({
    name: z.string().min(1).optional().describe('The file name if left out.'),
    context: z
      .union([
        z.literal(true),
        z.null(),
        z.looseObject({dir: z.string().min(1).optional(), channel: place.optional(), document: place.optional()}),
      ])
      .optional()
      .describe('Channel and document the agents share; an empty "context:" gives both.'),
    agents: z.record(
      id,
      z.looseObject({
        model: z.string().min(1),
        system_prompt: z.string().min(1).describe('The prompt itself, or the path of a file with it.'),
        tools: z.array(z.string().min(1)).optional(),
      }),
    ),
    setup: z
      .array(z.looseObject({shell: z.string().min(1), as: z.string().min(1).optional()}))
      .nullable()
      .optional(),
    kickoff: z.string().min(1).describe('The first message; whom it mentions begins.'),
  })
  .meta({
    title: 'Agentdir workflow',
    description: 'Agents that work together through a channel and a document: workflows/*.workflow.yaml',
  });

type Workflow = z.infer<typeof workflowSchema>;

export interface WorkflowFile {
  text: string;
  value: Workflow | undefined;
  problems: Problem[];
}

const VARIABLE = /\$\{\{([^{}]{0,200})\}\}/g;
const reserved = ['workflow.name', 'workflow.instance', 'context.channel', 'context.document', 'instance'];

/** Must not throw. */
export function parseWorkflow(text: string): WorkflowFile {
  const source = readQuickly(text);
  const {value, problems} = validate(workflowSchema, source, 'write at least "agents:" and "kickoff:"');
  if (!value) return {text, value, problems};
  const at = (path: Path) => placeOfValue(source, path);
  const known = [...reserved];
  for (const [i, step] of (value.setup ?? []).entries()) {
    problems.push(...unknownVariables(step.shell, known, at(['setup', i, 'shell'])));
    if (step.as) known.push(step.as);
  }
  problems.push(...unknownVariables(value.kickoff, known, at(['kickoff'])));
  if (mentionsIn(value.kickoff, new Set(Object.keys(value.agents))).length === 0) {
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
  return {text, value: problems.some(p => p.severity === 'error') ? undefined : value, problems};
}

function unknownVariables(text: string, known: readonly string[], where: ReturnType<typeof placeOfValue>): Problem[] {
  const found: Problem[] = [];
  for (const match of text.matchAll(VARIABLE)) {
    const name = match[1]?.trim() ?? '';
    if (known.includes(name) || /^env\.[A-Za-z_]\w*$/.test(name)) continue;
    const near = nearest(name, known);
    found.push(
      problem(
        'UNKNOWN_VARIABLE',
        where,
        `expected a known variable, got \${{ ${name} }}`,
        near ? `did you mean \${{ ${near} }}?` : `known here: ${known.join(', ')}, env.NAME`,
      ),
    );
  }
  return found;
}

export function setWorkflowField(text: string, path: Path, value: unknown): string {
  refuseErrors(parseWorkflow(text).problems);
  return editYaml(text, {set: path, to: value});
}

export function stringifyWorkflow(file: WorkflowFile): string {
  return file.text;
}
