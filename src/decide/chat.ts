/** What a model is sent and answers, in the words of the OpenAI protocol. */
export interface ChatCall {
  id: string;
  type: 'function';
  function: {name: string; arguments: string};
}

export type ChatMessage =
  | {role: 'system' | 'user'; content: string}
  | {role: 'assistant'; content: string | null; tool_calls?: ChatCall[]}
  | {role: 'tool'; tool_call_id: string; content: string};
