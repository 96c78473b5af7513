import type {Tool} from '../tool/tool.ts';
import {fittingLines} from './cut.ts';

const MAX_AGENTS = 200;

export const agentListTool: Tool<'agent_list'> = {
  execute: async (_, {agentStates}) => {
    const all = await agentStates();
    const agents = fittingLines(
      all.slice(0, MAX_AGENTS).map(({name, status, model, kind, task}) => ({
        ...{name, status, kind},
        ...(model !== undefined && {model}),
        ...(task && {task: {id: task.id, ...(task.title !== undefined && {title: task.title})}}),
      })),
      MAX_AGENTS,
    );
    const left = all.length - agents.length;
    return {success: true, agents, ...(left > 0 && {left_out: left})};
  },
};
