import {chooseModel} from '../config.ts';
import type {Serving} from './serving.ts';

/** Say which model answers where a template names none: loudly if it is only a script. */
export async function announce(serving: Serving): Promise<void> {
  const choice = chooseModel(undefined, await serving.current.settings(), process.env);
  if ('failed' in choice) serving.model = `none: ${choice.failed}; ${choice.hint}`;
  else if (choice.kind === 'playbook') serving.model = `playbook (a script, not an AI): ${choice.why}`;
  else serving.model = choice.id ?? `the first model of ${choice.baseURL ?? 'the server'}`;
  const isModel = !('failed' in choice) && choice.kind === 'openai';
  serving.report({event: 'model', model: serving.model, isModel});
  serving.onChanged();
}
