import type {ContextVersion, Message} from '../formats/session/session-schema.ts';
import type {ChatMessage} from './chat.ts';
import {asData, chatHistory} from './history.ts';
import {shortenResults} from './shorten-results.ts';
import {type Standing, standingText} from './standing.ts';
import {charactersPerToken, sizeOf} from './token-size.ts';

/** The checkpoint in force, with the text of its file. */
export interface CheckpointText {
  entry: ContextVersion;
  /** How many messages it stands for. */
  upto: number;
  text: string;
}

export interface RequestInput {
  /** The system prompt with its ending. */
  system: string;
  /** Tools offered to the model, as they are sent. */
  tools: readonly object[];
  /** All messages of the conversation that the request is about. */
  messages: readonly Message[];
  checkpoint: CheckpointText | undefined;
  standing: Standing;
  /** The session has read text from outside. */
  tainted: boolean;
  /** Path of the session, for pointers to it. */
  path: string;
  /** How many tokens the request may have; undefined: unknown. */
  most: number | undefined;
}

/** A request to a model, and what its parts take. */
export interface ModelContext {
  messages: ChatMessage[];
  /** In characters of JSON. */
  parts: {system: number; tools: number; checkpoint: number; messages: number};
  /** How many tool results are pointers. */
  shortened: number;
  charactersPerToken: number;
  /** Estimated size. */
  tokens: number;
}

/**
 * Exactly what the model is sent: the system prompt, the checkpoint with what must not be forgotten, and the messages after it. Follows
 * from files alone, so that undoing a checkpoint restores every byte.
 */
export function modelContext(input: RequestInput): ModelContext {
  const {system, messages, checkpoint, path, most} = input;
  const upto = Math.min(checkpoint?.upto ?? 0, messages.length);
  const tail = upto === 0 ? messages : messages.slice(upto);
  const opening = checkpoint && openingMessage(checkpoint, input);
  const parts = {
    system: sizeOf({role: 'system', content: system}),
    tools: input.tools.reduce<number>((sum, tool) => sum + sizeOf(tool), 0),
    checkpoint: opening ? sizeOf(opening) : 0,
  };
  const before = parts.system + parts.tools + parts.checkpoint;
  const perToken = charactersPerToken(tail, checkpoint?.entry, before);
  const room = most === undefined ? Number.POSITIVE_INFINITY : most * perToken - before;
  const {messages: shown, shortened} = shortenResults(tail, {room, first: upto + 1, path});
  const chat = chatHistory(system, shown);
  const sent = sizeOfAll(chat) - (chat[0]?.role === 'system' ? sizeOf(chat[0]) : 0);
  if (opening) chat.splice(chat[0]?.role === 'system' ? 1 : 0, 0, opening);
  return {
    messages: chat,
    parts: {...parts, messages: sent},
    shortened,
    charactersPerToken: perToken,
    tokens: Math.ceil((before + sent) / perToken),
  };
}

function sizeOfAll(messages: readonly ChatMessage[]): number {
  let size = 0;
  for (const message of messages) size += sizeOf(message);
  return size;
}

const TITLE = '[AGENTDIR CONTEXT]';

/** The message that stands for the older ones. */
function openingMessage({upto, text}: CheckpointText, {messages, standing, tainted}: RequestInput): ChatMessage {
  const now = standingText(messages, upto, standing);
  const notes = text.trim();
  const title = `What was said in messages 1 to ${upto}`;
  const parts = [
    `${TITLE} Messages 1 to ${upto} of this conversation are not repeated. Below are notes about them. The tool recall returns the messages themselves.`,
    tainted ? asData(`${title}, in part by strangers`, notes) : `## ${title}\n${notes}`,
    now && `# As of now, read from the files\n${now}`,
  ];
  return {
    role: 'user',
    content: parts
      .filter(Boolean)
      .join('\n\n')
      .replace(/\p{Surrogate}/gu, '\ufffd'),
  };
}
