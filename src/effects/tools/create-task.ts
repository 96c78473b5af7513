import type {Tool} from '../tool/tool.ts';

export const createTaskTool: Tool<'create_task'> = {execute: (args, {createTask}) => createTask(args)};
