import type {Tool} from './tool.ts';

export const sendMessage: Tool<'send_message'> = {execute: (args, {send}) => send(args)};
