import type {Tool} from '../tool/tool.ts';

export const updateTaskTool: Tool<'update_task'> = {execute: (args, {updateTask}) => updateTask(args)};
