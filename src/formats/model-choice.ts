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
  | {kind: 'playbook'; why: string; keys?: readonly string[]; contextTokens?: number | undefined}
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
  const models = settings.models ?? [];
  if (name === PLAYBOOK) return playbook('the model "playbook" was asked for by name', models);
  if (name === 'auto') return automatic(models, env);
  const listed = listedModel(name, models);
  if (!listed) return unlisted(name, models, env);
  if (listed.id === PLAYBOOK) return playbook(`the model "${name}" was asked for by name`, models);
  const model = completed(listed, env);
  const missing = missingKey(model, env);
  return missing === undefined ? server(model, env) : withoutKey(name, missing, '');
}

const PLAYBOOK = 'playbook';

/** An entry of `models:` may give the built-in model a context window. */
function playbook(why: string, models: readonly Listed[], keys?: readonly string[]): ModelChoice {
  const contextTokens = models.find(({id}) => id === PLAYBOOK)?.context_tokens;
  return {kind: 'playbook', why, ...(keys && {keys}), contextTokens};
}

/** Whether a person named this model in agentdir.yaml. An agent chooses no other by itself. */
export function isListedModel(name: string, {models, default_model}: Settings): boolean {
  return name === default_model || listedModel(name, models ?? []) !== undefined;
}

/** The entry of `models:` for a name. `openai/gpt-5` is also the entry with the id `gpt-5`, if it is for that provider. */
export function listedModel(name: string, models: readonly Listed[]): Listed | undefined {
  const exact = models.find(({id}) => id === name) ?? models.find(({nickname}) => nickname === name);
  const {provider, id} = providerIn(name) ?? {};
  return exact ?? (provider && models.find(model => model.id === id && providerOf(model) === provider));
}

/** `anthropic/claude-sonnet-4-5`: a built-in provider, and the id that its server knows. */
export function providerIn(name: string): {provider: Provider; id: string} | undefined {
  const [, prefix, id] = /^([a-z]+)\/(.+)$/.exec(name) ?? [];
  const provider = providers.find(each => each.name === prefix);
  return provider && id !== undefined ? {provider, id} : undefined;
}

/** The built-in provider of an entry of `models:`, if it names no other server. */
export function providerOf(listed: Listed): Provider | undefined {
  const {id, base_url} = listed;
  if (base_url !== undefined)
    return providers.find(({baseURL}) => baseURL !== undefined && baseURL === base_url.replace(/\/+$/, ''));
  const named = providerIn(id)?.provider;
  const variable = keyOf(listed) ?? KEY;
  return named ?? providers.find(each => each.variable === variable);
}

function keyOf({api_key_env, api_env_var}: Listed): string | undefined {
  return api_key_env ?? api_env_var;
}

/** An entry of `models:` with what the built-in table knows of its provider. What the entry says itself stays. */
function completed(listed: Listed, env: Environment): Model {
  const key = keyOf(listed);
  const own = {...listed, api_key_env: key};
  if (listed.base_url !== undefined) return own;
  const named = providerIn(listed.id);
  const provider = providerOf(listed);
  // OPENAI_BASE_URL may need no key, or be a gateway with a key of its own.
  if (!provider || provider.name === 'openai') return {...own, id: named?.id ?? listed.id};
  const {base_url, api_key_env} = modelOf(provider, env);
  return {...own, id: named?.id ?? listed.id, base_url, api_key_env: key ?? api_key_env};
}

function withoutKey(name: string, variable: string, besides: string): ModelChoice {
  return {
    failed: `the model "${name}" has no key: the environment variable ${variable} is not set`,
    hint: `set ${variable} where the daemon is started, and restart it; or choose another model: agentdir models${besides}`,
  };
}

function automatic(models: readonly Listed[], env: Environment): ModelChoice {
  const all = models.filter(({id}) => id !== PLAYBOOK).map(model => completed(model, env));
  const ready = all.find(model => missingKey(model, env) === undefined);
  if (ready) return server(ready, env);
  const provider = providers.find(each => isUsable(each, env));
  if (provider) return server(modelOf(provider, env), env);
  const keys = all.flatMap(model => missingKey(model, env) ?? []);
  const why = 'no API key is set, and no local Ollama was found';
  return playbook(why, models, [...new Set([...keys, ...providerKeys])]);
}

/** Whether the key of the provider is set. */
export function isUsable({name, variable}: Provider, env: Environment): boolean {
  return envValue(env, variable) !== undefined || (name === 'openai' && envValue(env, BASE) !== undefined);
}

function unlisted(name: string, models: readonly Listed[], env: Environment): ModelChoice {
  const {provider, id} = providerIn(name) ?? {};
  if (provider) {
    // Ollama needs no key.
    if (isUsable(provider, env) || !isKey(provider.variable)) return server(modelOf(provider, env, id), env);
    const gateway = envValue(env, BASE) !== undefined && `; if the server of ${BASE} has it, write openai/${name}`;
    return withoutKey(name, provider.variable, gateway || '');
  }
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

/** `provider` and `model` of a call as one name. */
export function modelNamed(provider: string | undefined, model: string | undefined): string | undefined {
  if (provider === undefined || provider === '') return model === '' ? undefined : model;
  return model === undefined || model === '' ? undefined : `${provider}/${model}`;
}
