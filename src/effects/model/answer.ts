import type {ChatMessage} from '../../decide/chat.ts';
import type {Message} from '../../formats/session/session-schema.ts';

export interface ToolOffer {
  name: string;
  description: string;
  /** JSON Schema. */
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  agent: string;
  /** Starts with the system prompt; valid for the model (`decide/history.ts`). */
  messages: readonly ChatMessage[];
  /** The session's messages from which `messages` was built; the playbook reads these. */
  session: readonly Message[];
  tools: readonly ToolOffer[];
  signal: AbortSignal;
  /** Called with each piece of text as it arrives. */
  onText: (delta: string) => void;
}

/** In the form of the `usage` field of a message. */
export type ModelUsage = {
  input_tokens: number;
  output_tokens: number;
  /** Absent if the price is unknown. */
  cost_usd?: number;
  /** True if the server reported no usage. */
  estimated?: boolean;
};

export interface ReplyCall {
  /** Never empty; unique in the session. */
  id: string;
  name: string;
  /** As the model wrote them; may be invalid JSON. */
  arguments: string;
}

export interface Reply {
  content: string | null;
  calls: readonly ReplyCall[];
  /** The model id as reported by the server, or `playbook`. */
  model: string;
  usage: ModelUsage | undefined;
  /** True if the server's length limit truncated the answer. */
  cut: boolean;
}

/** Reasons for a missing answer that a retry may fix. */
export type RetryKind = 'busy' | 'server' | 'connection' | 'silence' | 'empty' | 'garbage';

export type Answer =
  | {reply: Reply}
  /** `retry`: what happened, in words. `after`: milliseconds that the server asked to wait. */
  | {retry: string; kind: RetryKind; after: number | undefined}
  /** A retry would not help. `failed`: what is wrong; `hint`: how to fix it. `tooLong`: the request exceeds the model's window. */
  | {failed: string; hint: string; tooLong?: true}
  | {aborted: true};
