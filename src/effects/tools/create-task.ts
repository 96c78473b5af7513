import type {Tool} from '../tool/tool.ts';

export const createTask: Tool<'create_task'> = {execute: (args, {createTask}) => createTask(args)};
