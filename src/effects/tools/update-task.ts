import type {Tool} from '../tool/tool.ts';

export const updateTask: Tool<'update_task'> = {execute: (args, {updateTask}) => updateTask(args)};
