import {envValue} from './common/values.ts';

/** A service with OpenAI's protocol that needs nothing but a key. */
export interface Provider {
  name: string;
  /** The variable that holds its key, or that names its model if it needs no key. The provider is usable if it is set. */
  variable: string;
  /** Undefined: OPENAI_BASE_URL, else OpenAI. */
  baseURL: string | undefined;
  /** The model if `NAME_MODEL` does not name one. Undefined: the first that the server lists. */
  model: string | undefined;
}

/** In the order in which `auto` tries them. All that is known of each is in its row. */
export const providers: readonly Provider[] = [
  {name: 'openai', variable: 'OPENAI_API_KEY', baseURL: undefined, model: undefined},
  {
    name: 'anthropic',
    variable: 'ANTHROPIC_API_KEY',
    baseURL: 'https://api.anthropic.com/v1',
    model: 'claude-sonnet-4-5',
  },
  {
    name: 'openrouter',
    variable: 'OPENROUTER_API_KEY',
    baseURL: 'https://openrouter.ai/api/v1',
    model: 'openrouter/auto',
  },
  {
    name: 'gemini',
    variable: 'GEMINI_API_KEY',
    baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai',
    model: 'gemini-2.5-flash',
  },
  {
    name: 'groq',
    variable: 'GROQ_API_KEY',
    baseURL: 'https://api.groq.com/openai/v1',
    model: 'llama-3.3-70b-versatile',
  },
  {
    name: 'mistral',
    variable: 'MISTRAL_API_KEY',
    baseURL: 'https://api.mistral.ai/v1',
    model: 'mistral-large-latest',
  },
  // At the start, the daemon looks for a local Ollama and sets its variables.
  {name: 'ollama', variable: 'OLLAMA_MODEL', baseURL: 'http://127.0.0.1:11434/v1', model: undefined},
];

/** Variables that hold keys of providers. */
export const providerKeys: readonly string[] = providers.map(({variable}) => variable).filter(isKey);

export function isKey(variable: string): boolean {
  return variable.endsWith('_API_KEY');
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The model of a provider, as an entry of `models:` would name it. */
export function modelOf({name, variable, baseURL, model}: Provider, env: Environment, id?: string) {
  const host = name === 'ollama' ? envValue(env, 'OLLAMA_HOST') : undefined;
  return {
    id: id ?? envValue(env, `${name.toUpperCase()}_MODEL`) ?? model,
    base_url: host === undefined ? baseURL : `${ollamaAddress(host)}/v1`,
    api_key_env: isKey(variable) ? variable : undefined,
  };
}

/** OLLAMA_HOST, `127.0.0.1:11434` or `http://box:11434`, as an address to connect to. */
export function ollamaAddress(host: string): string {
  const address = /^https?:\/\//.test(host) ? host : `http://${host}`;
  const withPort = /:\d+\/?$/.test(address) ? address : `${address.replace(/\/$/, '')}:11434`;
  // The server listens on all addresses; a client needs one.
  return withPort.replace(/\/$/, '').replace('//0.0.0.0:', '//127.0.0.1:');
}
