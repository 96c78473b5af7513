import type {ChatMessage} from '../../decide/chat.ts';
import type {Message} from '../../formats/session/session-schema.ts';

/** A tool as a model is offered it. */
export interface ToolOffer {
  name: string;
  description: string;
  /** JSON Schema. */
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  agent: string;
  /** System prompt first; valid for the model (`decide/history.ts`). */
  messages: readonly ChatMessage[];
  /** The session's own messages that these were made from; what the playbook reads. */
  session: readonly Message[];
  tools: readonly ToolOffer[];
  signal: AbortSignal;
  /** Text of the answer as it comes. */
  onText: (delta: string) => void;
}

/** As a message has it. */
export type ModelUsage = {
  input_tokens: number;
  output_tokens: number;
  /** Only where the price is known. */
  cost_usd?: number;
  /** The server did not say. */
  estimated?: boolean;
};

export interface ReplyCall {
  /** Never empty, and never twice in a session. */
  id: string;
  name: string;
  /** As the model wrote them; perhaps no JSON. */
  arguments: string;
}

export interface Reply {
  content: string | null;
  calls: readonly ReplyCall[];
  /** The id of the model that answered, as the server named it; `playbook`. */
  model: string;
  usage: ModelUsage | undefined;
  /** It ends where the server's length limit cut it. */
  cut: boolean;
}

/** Why an answer did not come, and may come if asked again. */
export type RetryKind = 'busy' | 'server' | 'connection' | 'silence' | 'empty' | 'garbage';

export type Answer =
  | {reply: Reply}
  /** `after`: milliseconds the server asked to wait. `retry`: what happened, in words. */
  | {retry: string; kind: RetryKind; after: number | undefined}
  /** Asking again would not help: what is wrong, and what to do, in words. */
  | {failed: string; hint: string}
  | {aborted: true};
