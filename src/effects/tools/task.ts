import {judgeTool} from '../../policy/judge.ts';
import {failure, isFailure} from '../tool/failure.ts';
import type {JudgedToolCall, JudgingTool, ToolFailure} from '../tool/tool.ts';

const LONGEST_TITLE = 200;
const LONGEST_DESCRIPTION = 100_000;

/** A person may change the assignment before approving it. */
export const TASK_EDIT = {argument: 'description', label: 'Task'} as const;

/** A task is refused before anybody is asked if the agent cannot do it. */
export const taskTool: JudgingTool<'task'> = {
  prepare: async (wanted, policy, context) => {
    const {description} = wanted;
    if (description.trim() === '' || description.length > LONGEST_DESCRIPTION)
      return refusedTask(
        failure(
          'INVALID_ARGUMENTS',
          `description: expected the assignment, at most ${LONGEST_DESCRIPTION} characters, got ${description.trim() === '' ? 'nothing but blanks' : description.length}`,
        ),
      );
    const plan = await context.planTask(wanted);
    if (isFailure(plan)) return refusedTask(plan);
    const {agent, about, model, tools, limits, definition} = plan;
    const {verdict, reason} = judgeTool('task', policy, {agent: context.agent});
    const title = description.replace(/[\s\u0085]+/g, ' ').trim();
    return {
      verdict,
      reason,
      execute: () => context.startTask(wanted),
      ask: () => ({
        type: 'delegate',
        title: `task for ${agent}: ${title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE - 1)}…` : title}`,
        risk: {level: 'MEDIUM', factors: [`${agent} works in a session of its own, with its own tools`]},
        parts: [
          {label: 'Agent', text: about === undefined ? agent : `${agent}: ${about}`},
          {label: TASK_EDIT.label, text: description},
          {label: 'Tools', text: tools.length > 0 ? tools.join(', ') : 'none'},
          {label: 'Limits', text: [...limits, `model: ${model}`].join('\n')},
        ],
        edits: TASK_EDIT,
        basis: {agent, definition},
      }),
    };
  },
};

function refusedTask(refused: ToolFailure): JudgedToolCall {
  return {verdict: 'deny', reason: refused.error, refused, execute: () => refused, ask: () => refused};
}
