/** Messages to and from a model, in the OpenAI format. */
export interface ChatCall {
  id: string;
  type: 'function';
  function: {name: string; arguments: string};
}

export type ChatMessage =
  | {role: 'system' | 'user'; content: string}
  | {role: 'assistant'; content: string | null; tool_calls?: ChatCall[]}
  | {role: 'tool'; tool_call_id: string; content: string};
