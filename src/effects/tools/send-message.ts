import type {Tool} from '../tool/tool.ts';

export const sendMessageTool: Tool<'send_message'> = {execute: (args, {send}) => send(args)};
