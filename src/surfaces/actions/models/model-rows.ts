import {
  chooseModel,
  type Environment,
  isUsable,
  type ModelChoice,
  type Price,
  providerOf,
  type ServerChoice,
} from '../../../formats/model-choice.ts';
import {isKey, modelOf, type Provider, providers} from '../../../formats/providers.ts';
import type {Settings} from '../../../formats/settings.ts';

/** A model that can be named, and whether it can be asked. */
export interface ModelRow {
  /** As `model:` names it. `PROVIDER/MODEL` stands for any model of the provider. */
  name: string;
  nickname: string | null;
  provider: string | null;
  /** Where it is known from. */
  from: 'agentdir.yaml' | 'built-in';
  usable: boolean;
  /** Why it is not usable, and what to do. */
  why: string | null;
  server: string | null;
  /** The variable with the key; null if none is needed. */
  key_variable: string | null;
  /** In US dollars per million tokens; null: its cost is unknown. */
  price: Price | null;
  context_tokens: number | null;
  /** Agents that name no model are asked with this one. */
  is_default: boolean;
}

/** All models that agentdir.yaml lists, all providers and the playbook. `env`: the variables of whoever asks. */
export function modelRows(settings: Settings, env: Environment): ModelRow[] {
  const standard = chooseModel(undefined, settings, env);
  const models = settings.models ?? [];
  const builtInEntry = models.find(({id}) => id === 'playbook');
  const listed = models
    .filter(model => model !== builtInEntry)
    .map((model): ModelRow => {
      const {id, nickname = null} = model;
      const provider = providerOf(model)?.name ?? null;
      return {...rowOf(id, chooseModel(id, settings, env), standard), nickname, provider, from: 'agentdir.yaml'};
    });
  const known = new Set(listed.map(({name}) => name));
  const builtIn = providers.map(provider => providerRow(provider, settings, env, standard));
  const playbook: ModelRow = {
    ...{name: 'playbook', nickname: null, provider: null, from: 'built-in', usable: true, why: null, server: null},
    ...{key_variable: null, price: {input: 0, output: 0}, context_tokens: builtInEntry?.context_tokens ?? null},
    is_default: !('failed' in standard) && standard.kind === 'playbook',
  };
  const rows = [...listed, ...builtIn.filter(({name}) => !known.has(name)), playbook];
  // An entry and the provider it is of may lead to the same model.
  const first = rows.findIndex(({is_default}) => is_default);
  return rows.map((row, i) => ({...row, is_default: i === first}));
}

function rowOf(name: string, choice: ModelChoice, standard: ModelChoice): Omit<ModelRow, 'provider' | 'from'> {
  const nothing = {name, nickname: null, server: null, key_variable: null, price: null, context_tokens: null};
  if ('failed' in choice)
    return {...nothing, usable: false, why: `${choice.failed}; ${choice.hint}`, is_default: false};
  if (choice.kind === 'playbook') return {...nothing, usable: true, why: null, is_default: false};
  const {baseURL = 'https://api.openai.com/v1', keyVariable = null, price = null, contextTokens = null} = choice;
  const same = serverOf(standard);
  return {
    ...{name, nickname: null, usable: true, why: null, server: baseURL, key_variable: keyVariable},
    ...{price, context_tokens: contextTokens},
    is_default: same !== undefined && same.id === choice.id && same.baseURL === choice.baseURL,
  };
}

function serverOf(choice: ModelChoice): ServerChoice | undefined {
  return 'failed' in choice || choice.kind !== 'openai' ? undefined : choice;
}

function providerRow(provider: Provider, settings: Settings, env: Environment, standard: ModelChoice): ModelRow {
  const {name, variable} = provider;
  const {id, base_url} = modelOf(provider, env);
  const whole = `${name}/${id ?? 'MODEL'}`;
  const choice = chooseModel(whole, settings, env);
  const row = {
    ...rowOf(whole, choice, standard),
    ...{provider: name, from: 'built-in' as const, key_variable: isKey(variable) ? variable : null},
  };
  const server = row.server ?? base_url ?? null;
  // Without an id, the server is asked for its first model.
  const [own, first] = [serverOf(choice), serverOf(standard)];
  const isFirst = own !== undefined && first?.id === undefined && first?.baseURL === own.baseURL;
  const is_default = id === undefined ? first !== undefined && isFirst : row.is_default;
  if (isKey(variable) || isUsable(provider, env)) return {...row, server, is_default};
  const why = `no Ollama with a model answers at ${server}: start it, and "ollama pull" a model, before the daemon`;
  return {...row, server, usable: false, why, is_default: false};
}
