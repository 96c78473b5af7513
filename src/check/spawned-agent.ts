import {isId} from '../formats/common/values.ts';
import {escapeAll} from '../formats/common/visible.ts';
import type {TemplateValue} from '../formats/template.ts';
import {toolNamed} from '../policy/tools.ts';

/** Added agents live here. */
export const SPAWNED = 'templates/spawned/';

export function spawnedPath(name: string): string {
  return `${SPAWNED}${name}.agent.yaml`;
}

/** An agent to add, made from a template. */
export interface WantedAgent {
  name: string;
  /** Any name of a model; the template's if left out. */
  model?: string | undefined;
  systemPrompt?: string | undefined;
  /** All of them tools of the template; the template's if left out. */
  tools?: readonly string[] | undefined;
  persistent?: boolean | undefined;
}

/** Who adds the agent. */
export interface Spawner {
  /** `human` or `@AGENT`. */
  by: string;
  in?: {session: string; call: string};
  taint?: readonly string[];
}

const LONGEST_NAME = 60;
const LONGEST_PROMPT = 50_000;
const LONGEST_MODEL = 200;
const RESERVED: ReadonlySet<string> = new Set(['human', 'system', 'inbox', 'daemon', 'agentdir']);

/** The template of an added agent, or why it cannot be made. Limits, workspace and the rest are those of `base`. */
export function spawnedTemplate(
  {name, model, systemPrompt, tools, persistent}: WantedAgent,
  base: TemplateValue,
  {by, in: from, taint = []}: Spawner,
): {value: TemplateValue} | {problem: string} {
  if (!isId(name) || name.length > LONGEST_NAME)
    return {
      problem: `name: expected at most ${LONGEST_NAME} letters, digits, ".", "_" and "-", got ${escapeAll(name.slice(0, 80))}`,
    };
  if (RESERVED.has(name.toLowerCase())) return {problem: `name: "${name}" is no agent's name`};
  if (model !== undefined && (!/^[\w.:@+/-]+$/.test(model) || model.length > LONGEST_MODEL || model.includes('..')))
    return {
      problem: `model: expected a name such as anthropic/claude-sonnet-4-5, got ${escapeAll(model.slice(0, 80))}`,
    };
  if (systemPrompt !== undefined && (systemPrompt.trim() === '' || systemPrompt.length > LONGEST_PROMPT))
    return {problem: `system_prompt: expected at most ${LONGEST_PROMPT} characters, and not none`};
  const own = new Set(base.capabilities.map(known));
  const others = (tools ?? []).filter(tool => !own.has(known(tool)));
  if (others.length > 0)
    return {
      problem: `tools: ${base.id} has no ${others.map(tool => escapeAll(tool)).join(', ')}; it has ${base.capabilities.join(', ')}`,
    };
  const {persistent: _, auto_start, ephemeral, spawned_by, spawned_in, tainted = [], ...rest} = base;
  const sources = [...new Set([...tainted, ...taint])];
  return {
    value: {
      ...rest,
      id: name,
      type: base.type,
      ...(model !== undefined && {model}),
      system_prompt: systemPrompt ?? base.system_prompt,
      capabilities: tools === undefined ? base.capabilities : [...new Set(tools)],
      spawned_by: by,
      ...(from && {spawned_in: from}),
      ...(!persistent && {ephemeral: true}),
      ...(sources.length > 0 && {tainted: sources}),
    },
  };
}

function known(tool: string): string {
  return toolNamed(tool) ?? tool;
}
