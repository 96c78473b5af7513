import {nearest} from './common/diagnostic.ts';
import {envValue} from './common/values.ts';
import {isKey, modelOf, type Provider, providerKeys, providers} from './providers.ts';
import type {Settings} from './settings.ts';

/** In US dollars per million tokens. */
export interface Price {
  input: number;
  output: number;
}

/** A model on a server with OpenAI's protocol. */
export interface ServerChoice {
  kind: 'openai';
  /** Undefined: the first model that the server lists. */
  id: string | undefined;
  /** Undefined: OpenAI's own server. */
  baseURL: string | undefined;
  apiKey: string | undefined;
  /** Variable that holds the key; for messages. */
  keyVariable: string | undefined;
  price: Price | undefined;
  contextTokens: number | undefined;
  /** Maximum silence of the server. */
  silenceMs: number;
}

export type ModelChoice =
  | ServerChoice
  /** The built-in script; `why` is for people. `keys`: variables of which any would select a model. */
  | {kind: 'playbook'; why: string; keys?: readonly string[]}
  | {failed: string; hint: string};

export type Environment = Readonly<Record<string, string | undefined>>;

type Listed = NonNullable<Settings['models']>[number];

interface Model {
  id: string | undefined;
  base_url?: string | undefined;
  api_key_env?: string | undefined;
  context_tokens?: number | undefined;
  price?: Price | undefined;
  timeout_seconds?: number | undefined;
}

const SILENCE_SECONDS = 120;
const KEY = 'OPENAI_API_KEY';
const BASE = 'OPENAI_BASE_URL';

/** Choose the model for `wanted`: an id, a nickname, `default`, `auto` or `playbook`. */
export function chooseModel(wanted: string | undefined, settings: Settings, env: Environment): ModelChoice {
  const named = (text: string | undefined) => (text === undefined || text === 'default' ? undefined : text);
  const name = named(wanted) ?? named(settings.default_model) ?? 'auto';
  if (name === 'playbook') return {kind: 'playbook', why: 'the model "playbook" was asked for by name'};
  const models = settings.models ?? [];
  if (name === 'auto') return automatic(models, env);
  const listed = models.find(model => model.id === name) ?? models.find(model => model.nickname === name);
  if (!listed) return unlisted(name, models, env);
  const missing = missingKey(listed, env);
  if (missing === undefined) return server(listed, env);
  return {
    failed: `the model "${name}" has no key: the environment variable ${missing} is not set`,
    hint: `set ${missing} where the daemon is started, and restart it; or choose another model`,
  };
}

/** Whether a person named this model in agentdir.yaml. An agent chooses no other by itself. */
export function isListedModel(name: string, {models, default_model}: Settings): boolean {
  return name === default_model || (models ?? []).some(({id, nickname}) => name === id || name === nickname);
}

function automatic(models: readonly Listed[], env: Environment): ModelChoice {
  const ready = models.find(model => missingKey(model, env) === undefined);
  if (ready) return server(ready, env);
  const provider = providers.find(each => isUsable(each, env));
  if (provider) return server(modelOf(provider, env), env);
  const keys = models.flatMap(model => missingKey(model, env) ?? []);
  const why = 'no API key is set, and no local Ollama was found';
  return {kind: 'playbook', why, keys: [...new Set([...keys, ...providerKeys])]};
}

function isUsable({name, variable}: Provider, env: Environment): boolean {
  return envValue(env, variable) !== undefined || (name === 'openai' && envValue(env, BASE) !== undefined);
}

/** `anthropic/claude-sonnet-4-5`: a model of a built-in provider. Undefined: not a provider, or its key is not set. */
function providerModel(name: string, env: Environment): Model | undefined {
  const [, prefix, id] = /^([a-z]+)\/(.+)$/.exec(name) ?? [];
  const provider = providers.find(each => each.name === prefix);
  // Ollama needs no key.
  const usable = provider && (isUsable(provider, env) || !isKey(provider.variable));
  return usable ? modelOf(provider, env, id) : undefined;
}

function unlisted(name: string, models: readonly Listed[], env: Environment): ModelChoice {
  const model = providerModel(name, env);
  if (model) return server(model, env);
  if (envValue(env, KEY) !== undefined || envValue(env, BASE) !== undefined) return server({id: name}, env);
  const names = models.flatMap(model => [model.id, ...(model.nickname === undefined ? [] : [model.nickname])]);
  const near = nearest(name, [...names, 'auto', 'playbook', 'default']);
  return {
    failed: `the model "${name}" is not listed in agentdir.yaml, and neither ${KEY} nor ${BASE} is set`,
    hint:
      near === undefined
        ? `list it under models: in agentdir.yaml, or set ${KEY} where the daemon is started, and restart it`
        : `did you mean "${near}"?`,
  };
}

/** The unset variable that a model needs. A model with its own base URL and no key variable needs none. */
function missingKey({base_url, api_key_env}: Model, env: Environment): string | undefined {
  if (api_key_env !== undefined) return envValue(env, api_key_env) === undefined ? api_key_env : undefined;
  if (base_url !== undefined || envValue(env, BASE) !== undefined) return undefined;
  return envValue(env, KEY) === undefined ? KEY : undefined;
}

/** OPENAI_API_KEY is sent only to OpenAI or OPENAI_BASE_URL, never to a server named in a file. */
function server(model: Model, env: Environment): ServerChoice {
  const keyVariable = model.api_key_env ?? (model.base_url === undefined ? KEY : undefined);
  return {
    kind: 'openai',
    id: model.id,
    baseURL: model.base_url ?? envValue(env, BASE),
    apiKey: keyVariable === undefined ? undefined : envValue(env, keyVariable),
    keyVariable,
    price: model.price && {input: model.price.input, output: model.price.output},
    contextTokens: model.context_tokens,
    silenceMs: Math.round((model.timeout_seconds ?? SILENCE_SECONDS) * 1000),
  };
}
