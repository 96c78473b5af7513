import {type Place, type Problem, problem} from '../formats/common/diagnostic.ts';
import {stemOf} from '../formats/common/key.ts';
import {providerIn, providerOf} from '../formats/model-choice.ts';
import type {Settings, SettingsFile} from '../formats/settings.ts';
import {settingPlace} from '../formats/settings.ts';
import type {DaySpend} from '../formats/spend-file.ts';
import type {Facts} from './facts.ts';
import type {Look} from './look.ts';

const TODO =
  'give the model a price under models: in agentdir.yaml, for example price: {input: 3, output: 15} in US dollars per million tokens (0 if it is free), or limit tokens instead: limits: {per_day: {tokens: 5000000}}';

function unpriced(place: Place, message: string, file = ''): Problem {
  return problem('UNPRICED_MODEL', place, message, TODO, file);
}

/** Models of agentdir.yaml without a price, beside a limit on cost that does not count them. */
export function unpricedModels(file: SettingsFile): Problem[] {
  const {models, default_model, limits} = file.value ?? {};
  if (limits?.per_day?.cost_usd === undefined) return [];
  const listed = models ?? [];
  const without = listed.flatMap(({id, price}, i) =>
    price || id === 'playbook' ? [] : [unpriced(settingPlace(file, ['models', i, 'id']), words(id))],
  );
  const isOther = default_model !== undefined && !['auto', 'default', 'playbook'].includes(default_model);
  if (!isOther || isListed(default_model, listed)) return without;
  return [...without, unpriced(settingPlace(file, ['default_model']), words(default_model))];
}

const words = (id: string) => `the cost of "${id}" is unknown, so limits on cost do not count it: it has no price`;

function isListed(name: string, models: NonNullable<Settings['models']>): boolean {
  const plain = providerIn(name)?.id;
  return models.some(({id, nickname}) => id === name || nickname === name || id === plain);
}

/** The names that state/spend.yaml defines: whether a model without a price was used today, and by whom. */
export function unpricedNames({agents}: DaySpend): string[] {
  const by = Object.entries(agents).flatMap(([agent, {unpriced_tokens}]) => (unpriced_tokens > 0 ? [agent] : []));
  return by.length === 0 ? [] : [ANY, ...by.map(agent => `${ANY}/${agent}`)];
}

const ANY = 'unpriced';

const LIMIT = 'limit/cost';

/** The names that agentdir.yaml defines: that it limits the cost of a day, and the models that it lists. */
export function priceNames({models, limits}: Settings): string[] {
  if (limits?.per_day?.cost_usd === undefined) return [];
  const listed = (models ?? []).flatMap(entry => {
    const {id, nickname} = entry;
    const provider = providerOf(entry)?.name;
    return [
      id,
      ...(nickname === undefined ? [] : [nickname]),
      ...(provider === undefined ? [] : [`${provider}/${id}`]),
    ];
  });
  return [LIMIT, ...new Set(listed.map(name => `listed/${name}`))];
}

/** A template whose model has no price, beside a limit on the cost of a day. Listed ones are reported where they are listed. */
export function checkModelPrice(path: string, model: string | null | undefined, look: Look): Problem[] {
  if (!model || ['auto', 'default', 'playbook'].includes(model) || look.named(LIMIT).length === 0) return [];
  if (look.named(`listed/${model}`).length > 0) return [];
  return [unpriced({line: 1, column: 1}, words(model), path)];
}

/** A limit on cost in a template or the settings, and tokens of today that it does not count. */
export function checkCostLimit(path: string, {kind, costLimitAt, problems}: Facts, look: Look): Problem[] {
  if (!costLimitAt || problems.some(({code}) => code === 'UNPRICED_MODEL')) return [];
  if (look.named(kind === 'settings' ? ANY : `${ANY}/${stemOf(path)}`).length === 0) return [];
  return [
    unpriced(costLimitAt, 'a model of unknown cost was used today, and the limit on cost does not count it', path),
  ];
}
