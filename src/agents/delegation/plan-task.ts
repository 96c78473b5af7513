import {createHash} from 'node:crypto';
import {TASK_SECONDS} from '../../decide/delegation.ts';
import {agentNameIn} from '../../decide/new-tasks.ts';
import {failure} from '../../effects/tool/failure.ts';
import type {Arguments, TaskPlan, ToolFailure} from '../../effects/tool/tool.ts';
import {escapeAll} from '../../formats/common/visible.ts';
import type {TemplateValue} from '../../formats/template.ts';
import {withoutDelegation} from '../../policy/tools.ts';
import {agentExists, agentMeant, isPersonIn, suggestAgents} from '../mail/agents.ts';
import {type Caller, isChild} from '../state/caller.ts';
import type {With} from '../state/parts.ts';

/** The agent that a task is for, as a person is asked about it; or why it cannot be given the task. */
export async function planTask(
  {files, current}: With<'files' | 'current'>,
  caller: Caller,
  {agent_type}: Pick<Arguments<'task'>, 'agent_type'>,
): Promise<TaskPlan | ToolFailure> {
  const agent = agentMeant(files, agentNameIn(agent_type), caller.agent);
  if (isChild(caller.of.header))
    return failure('NOT_ALLOWED', 'this session does a task for another agent, and gives none itself');
  if (isPersonIn(files, agent))
    return failure('INVALID_ARGUMENTS', 'agent_type: that is a person; use ask_human, or a task for @human');
  if (!agentExists(files, agent))
    return failure(
      'INVALID_ARGUMENTS',
      `agent_type: there is no agent ${escapeAll(agent)}; ${suggestAgents(files, agent)}`,
    );
  const template = await current.template(agent);
  if (!template) return failure('FAILED', `the definition of ${agent} has errors; see agentdir check`);
  const {description, model = 'default', capabilities} = template;
  return {
    ...{agent, about: description, model, definition: definitionOf(template)},
    tools: withoutDelegation(capabilities),
    limits: limitWords(template.limits),
  };
}

function limitWords(limits: TemplateValue['limits'] = {}): string[] {
  const {task_timeout_seconds = TASK_SECONDS, max_turns, max_tokens, max_cost_usd} = limits;
  return [
    `time: ${task_timeout_seconds} s`,
    ...(max_turns === undefined ? [] : [`turns: ${max_turns}`]),
    ...(max_tokens === undefined ? [] : [`tokens of the agent in a day: ${max_tokens}`]),
    ...(max_cost_usd === undefined ? [] : [`cost of the agent in a day: $${max_cost_usd}`]),
  ];
}

/** Changes with anything that makes the agent another one. */
function definitionOf({type, model, system_prompt, capabilities, limits, workspace}: TemplateValue): string {
  const all = JSON.stringify([type, model, system_prompt, capabilities, limits, workspace]);
  return createHash('sha256').update(all).digest('hex').slice(0, 16);
}
