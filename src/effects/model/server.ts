import type {OpenAI} from 'openai';
import {isMap} from '../../formats/common/values.ts';
import type {ServerChoice} from '../../formats/model-choice.ts';

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

const OPENAI = 'https://api.openai.com/v1';
/** The longest timer Node allows; our own silence timer fires first. */
const NEVER_MS = 2 ** 31 - 1;

export function baseUrlOf(choice: ServerChoice): string {
  return choice.baseURL ?? OPENAI;
}

/** Host name for messages; never shows the rest of the URL. */
export function hostOf(choice: ServerChoice): string {
  return URL.canParse(baseUrlOf(choice)) ? new URL(baseUrlOf(choice)).host : 'the server';
}

/** A model server as seen by one API key. The client keeps connections open. */
export class Server {
  readonly #choice: ServerChoice;
  readonly #fetch: Fetch;
  #client: Promise<OpenAI> | undefined;
  #models: Promise<string[]> | undefined;
  /** The server rejects `stream_options`. */
  rejectsUsageOption = false;

  constructor(choice: ServerChoice, fetch: Fetch) {
    this.#choice = choice;
    this.#fetch = fetch;
  }

  client(): Promise<OpenAI> {
    this.#client ??= this.#makeClient();
    return this.#client;
  }

  /** Ids of the server's models; requested once. */
  models(): Promise<string[]> {
    if (!this.#models) {
      const asked = this.#askModels();
      this.#models = asked;
      asked.catch(() => this.forgetModels());
    }
    return this.#models;
  }

  forgetModels(): void {
    this.#models = undefined;
  }

  async #askModels(): Promise<string[]> {
    const client = await this.client();
    const signal = AbortSignal.timeout(Math.min(this.#choice.silenceMs, 30_000));
    const list: unknown = await client.get('/models', {signal});
    const data: unknown[] = isMap(list) && Array.isArray(list.data) ? list.data : [];
    return data.flatMap(model => (isMap(model) && typeof model.id === 'string' ? [model.id] : []));
  }

  /** Load the SDK at the first call: loading it takes longer than most commands run. */
  async #makeClient(): Promise<OpenAI> {
    const {OpenAI} = await import('openai');
    const {apiKey, baseURL} = this.#choice;
    return new OpenAI({
      apiKey: apiKey ?? 'none',
      adminAPIKey: null,
      baseURL: baseUrlOf(this.#choice),
      // Only OpenAI may see the organisation and project.
      ...(baseURL === undefined ? {} : {organization: null, project: null}),
      ...(apiKey === undefined ? {defaultHeaders: {Authorization: null}} : {}),
      maxRetries: 0,
      timeout: NEVER_MS,
      logLevel: 'off',
      fetch: (url, init) => readably(this.#fetch(url as string | URL | Request, init as RequestInit)),
    });
  }
}

/** Move an error's text to where the SDK looks for it; some servers put it elsewhere. */
async function readably(asked: Promise<Response>): Promise<Response> {
  const response = await asked;
  if (response.ok) return response;
  const text = await response.text();
  const {status, headers} = response;
  const kept = new Headers(headers);
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) kept.delete(name);
  let error: unknown = {message: text};
  try {
    const body: unknown = JSON.parse(text);
    const found = isMap(body) ? (body.error ?? body.detail ?? body) : body;
    error = isMap(found) ? found : {message: typeof found === 'string' ? found : JSON.stringify(found)};
  } catch {
    // An HTML page or an empty body.
  }
  return new Response(JSON.stringify({error}), {status, headers: kept});
}
