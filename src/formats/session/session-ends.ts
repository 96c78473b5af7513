import type {Message} from './session-schema.ts';

/** Whether something is there that its agent has not answered yet. */
export function awaitsAnswer(messages: readonly Message[]): boolean {
  const last = messages.findLastIndex(({role}) => role === 'assistant');
  return messages.slice(last + 1).some(({role}) => role === 'user' || role === 'tool_result');
}
