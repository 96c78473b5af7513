import {type Choice, chooseModel} from '../config.ts';
import {announceSandbox} from './confinement.ts';
import type {Serving} from './serving.ts';

const AT_LAST_MS = 2_000;
const SOON_MS = 500;
const KEY_HINT = 'for an AI: export OPENAI_API_KEY=… and start again, or list models in agentdir.yaml';

/** Say what answers and how commands are confined, unless it was said: loudly where that is less than it could be. */
export async function announce(serving: Serving): Promise<void> {
  await announceModel(serving);
  // What people and agents wait for comes first.
  await Promise.race([serving.queue.whenIdle(), soon(serving, AT_LAST_MS)]);
  await soon(serving, SOON_MS);
  await announceSandbox(serving);
  if (told.has(serving) || serving.turns.stopped) return;
  told.add(serving);
  for (const {what, hint} of await serving.world.notices()) serving.report({event: 'notice', what, hint});
  if (!serving.turns.stopped) serving.report({event: 'ready', home: serving.home});
}

/** Keeps no process alive. */
function soon({clock}: Serving, ms: number): Promise<void> {
  return new Promise(resolve => clock.after(ms, resolve));
}

/** Settings may change, and what they say is announced anew; the rest is said once. */
const told = new WeakSet<Serving>();

/** Which model answers where a template names none. */
async function announceModel(serving: Serving): Promise<void> {
  const choice = chooseModel(undefined, await serving.current.settings(), serving.world.environment);
  const words = inWords(choice);
  if (words === serving.model || serving.turns.stopped) return;
  serving.model = words;
  const isModel = !('failed' in choice) && choice.kind === 'openai';
  const hint = 'kind' in choice && choice.kind === 'playbook' ? KEY_HINT : undefined;
  serving.report({event: 'model', model: words, isModel, ...(hint !== undefined && {hint})});
  serving.onChanged();
}

function inWords(choice: Choice): string {
  if ('failed' in choice) return `none: ${choice.failed}; ${choice.hint}`;
  if (choice.kind === 'playbook') return `playbook (a script, not an AI): ${choice.why}`;
  return choice.id ?? `the first model of ${choice.baseURL ?? 'the server'}`;
}
