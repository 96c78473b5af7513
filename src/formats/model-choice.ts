import {nearest} from './common/diagnostic.ts';
import type {Settings} from './settings.ts';

/** US dollars for a million tokens. */
export interface Price {
  input: number;
  output: number;
}

/** A model at a server that speaks OpenAI's protocol. */
export interface ServerChoice {
  kind: 'openai';
  /** Undefined: the first model the server lists. */
  id: string | undefined;
  /** Undefined: OpenAI's own. */
  baseURL: string | undefined;
  apiKey: string | undefined;
  /** The variable the key comes from, for messages to people. */
  keyVariable: string | undefined;
  price: Price | undefined;
  contextTokens: number | undefined;
  /** How long the server may say nothing. */
  silenceMs: number;
}

export type ModelChoice =
  | ServerChoice
  /** The built-in script; `why` is for people. */
  | {kind: 'playbook'; why: string}
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

/** Which model serves an agent that asks for `wanted`: an id, a nickname, `default`, `auto` or `playbook`. */
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

function automatic(models: readonly Listed[], env: Environment): ModelChoice {
  const ready = models.find(model => missingKey(model, env) === undefined);
  if (ready) return server(ready, env);
  if (value(env, KEY) !== undefined || value(env, BASE) !== undefined)
    return server({id: value(env, 'OPENAI_MODEL')}, env);
  const keys = [...new Set(models.map(model => missingKey(model, env)))].filter(key => key !== undefined);
  return {kind: 'playbook', why: `no API key is set: none of ${[...new Set([...keys, KEY, BASE])].join(', ')}`};
}

function unlisted(name: string, models: readonly Listed[], env: Environment): ModelChoice {
  if (value(env, KEY) !== undefined || value(env, BASE) !== undefined) return server({id: name}, env);
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

/** The variable a model needs and does not find. A server of one's own, named without a key, needs none. */
function missingKey({base_url, api_key_env}: Model, env: Environment): string | undefined {
  if (api_key_env !== undefined) return value(env, api_key_env) === undefined ? api_key_env : undefined;
  if (base_url !== undefined || value(env, BASE) !== undefined) return undefined;
  return value(env, KEY) === undefined ? KEY : undefined;
}

/** The key of OpenAI's variable goes to OpenAI's or its variable's server only, never to one that a file names. */
function server(model: Model, env: Environment): ServerChoice {
  const keyVariable = model.api_key_env ?? (model.base_url === undefined ? KEY : undefined);
  return {
    kind: 'openai',
    id: model.id,
    baseURL: model.base_url ?? value(env, BASE),
    apiKey: keyVariable === undefined ? undefined : value(env, keyVariable),
    keyVariable,
    price: model.price && {input: model.price.input, output: model.price.output},
    contextTokens: model.context_tokens,
    silenceMs: Math.round((model.timeout_seconds ?? SILENCE_SECONDS) * 1000),
  };
}

/** A variable set to nothing is not set. */
function value(env: Environment, name: string): string | undefined {
  const text = Object.hasOwn(env, name) ? env[name]?.trim() : undefined;
  return text === '' ? undefined : text;
}
