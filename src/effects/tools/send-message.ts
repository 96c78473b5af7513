import type {Tool} from '../tool/tool.ts';

export const sendMessage: Tool<'send_message'> = {execute: (args, {send}) => send(args)};
