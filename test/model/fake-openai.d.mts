import type {IncomingHttpHeaders} from 'node:http';
import type {ChatMessage} from '../../src/decide/chat.ts';

/** What the server does with a request. Left out: an answer of OpenAI's, streamed if that was asked for. */
export interface Reaction {
  text?: string;
  refusal?: string;
  calls?: {id?: string; name: string; arguments?: string | object}[];
  model?: string;
  /** `null`: none is told. */
  usage?: {prompt_tokens?: number; completion_tokens?: number} | null;
  /** The finish reason; `null`: none is given. */
  finish?: string | null;
  /** Milliseconds between words. */
  delay?: number;
  /** Milliseconds before the first byte. */
  latency?: number;
  /** No event at all before the finish. */
  empty?: boolean;
  /** `false`: no [DONE] at the end. */
  done?: boolean;
  /** Plain JSON although a stream was asked for. */
  plain?: boolean;
  /** Say nothing more: before the headers, or after so many words. */
  stall?: 'headers' | number;
  /** With `stall`: a comment each so many milliseconds. */
  pings?: number;
  /** Close the connection: before the headers, or after so many words. */
  close?: 'headers' | number;
  /** With `close`: end the response as if it were complete. */
  politely?: boolean;
  status?: number;
  headers?: Record<string, string>;
  /** Of a `status` that is an error. */
  error?: {message?: string; type?: string; param?: string | null; code?: string | number | null};
  /** Exactly this as the body. */
  raw?: string;
}

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  stream?: boolean;
  stream_options?: {include_usage?: boolean};
  tools?: {type: 'function'; function: {name: string; description?: string; parameters?: Record<string, unknown>}}[];
}

export type Script = (request: ChatRequest, n: number) => Reaction | Promise<Reaction>;

export interface Seen {
  /** `performance.now()` and `Date.now()` when the request's headers were there. */
  at: number;
  date: number;
  headers: IncomingHttpHeaders;
  body: ChatRequest;
}

export interface FakeOpenAI {
  /** The base URL, with /v1. */
  readonly url: string;
  answer: Script;
  models: string[];
  /** How often GET /models was asked. */
  modelsAsked: number;
  /** Without `keep`, only `at` and `date` of each. */
  readonly requests: Seen[];
  readonly count: number;
  /** What OpenAI would have refused, in words. */
  readonly violations: string[];
  /** Exceptions of the script. */
  readonly errors: unknown[];
  readonly connections: number;
  close(): Promise<void>;
}

export interface Options {
  /** What is wrong with a request; as strict as OpenAI unless told. */
  check?: typeof import('./strict-chat.mjs').invalid;
  port?: number;
  answer?: Script;
  /** Keep bodies and headers of requests; `true` if left out. */
  keep?: boolean;
  models?: string[];
}

export const scripts: Record<'turn' | 'echo', Script>;
export function startFakeOpenAI(options?: Options): Promise<FakeOpenAI>;
