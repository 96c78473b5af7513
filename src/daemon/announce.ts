import type {RunStatus, With} from '../agents/state/parts.ts';
import {chooseModel, type ModelChoice} from '../formats/model-choice.ts';
import type {HomeFiles} from '../loop/home-files.ts';
import {announceSandbox} from './confinement.ts';

const AT_LAST_MS = 2_000;
const SOON_MS = 500;
const MODEL_HINT = 'to choose another: default_model: openai/MODEL in agentdir.yaml, or OPENAI_MODEL';
const PRICE_HINT =
  'no price is listed for it, so limits on cost do not count it: see models: in docs/formats/settings.md';

/** Report the default model and the sandbox if they have changed, and once the notices and `ready`. */
export async function announce(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'effects' | 'status'>,
): Promise<void> {
  const {files, reports, turns, status} = daemon;
  await announceModel(daemon);
  // Work that people and agents wait for goes first.
  await Promise.race([files.queue.whenIdle(), soon(files, AT_LAST_MS)]);
  await soon(files, SOON_MS);
  await announceSandbox(daemon);
  if (announcedRuns.has(status) || turns.stopped) return;
  announcedRuns.add(status);
  for (const {what, hint} of await daemon.effects.world.notices()) reports.report({event: 'notice', what, hint});
  if (!turns.stopped) reports.report({event: 'ready', home: files.home});
}

/** Unlike `clock.pause`, does not keep the process alive. */
function soon({disk}: HomeFiles, ms: number): Promise<void> {
  const {clock} = disk;
  return new Promise(resolve => clock.after(ms, resolve));
}

/** Runs that have reported notices and `ready`, which happens once. The model is reported again when settings change. */
const announcedRuns = new WeakSet<RunStatus>();

/** Report the model for templates that name none. */
async function announceModel({
  reports,
  current,
  turns,
  effects,
  status,
}: With<'reports' | 'current' | 'turns' | 'effects' | 'status'>): Promise<void> {
  const {environment} = effects.world;
  const choice = chooseModel(undefined, await current.settings(), environment);
  const words = inWords(choice, environment);
  if (words === status.model || turns.stopped) return;
  status.model = words;
  const isModel = !('failed' in choice) && choice.kind === 'openai';
  const hint = hintFor(choice);
  reports.report({event: 'model', model: words, isModel, ...(hint !== undefined && {hint})});
  reports.changed();
}

function hintFor(choice: ModelChoice): string | undefined {
  if ('failed' in choice) return undefined;
  if (choice.kind === 'openai') {
    const hints = [choice.id === undefined && MODEL_HINT, !choice.price && PRICE_HINT].filter(Boolean);
    return hints.length > 0 ? hints.join('; ') : undefined;
  }
  const {keys} = choice;
  if (keys === undefined) return undefined;
  const any = `${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}`;
  return `for an AI, start again with ${any} set, or with Ollama running; or list a model in agentdir.yaml`;
}

function inWords(choice: ModelChoice, environment: Readonly<Record<string, string | undefined>>): string {
  if ('failed' in choice) return `none: ${choice.failed}; ${choice.hint}`;
  if (choice.kind === 'playbook') return `playbook (a script, not an AI): ${choice.why}`;
  const {id, baseURL, keyVariable, price} = choice;
  const host = baseURL !== undefined && URL.canParse(baseURL) ? new URL(baseURL).host : undefined;
  const name =
    id === undefined
      ? `the first for chat that ${host ?? 'api.openai.com'} lists`
      : `${id}${host === undefined ? '' : ` of ${host}`}`;
  const key = keyVariable === undefined || !environment[keyVariable] ? '' : `key in ${keyVariable}`;
  const details = [key, price ? '' : 'cost unknown'].filter(Boolean).join(', ');
  return `${name}${details === '' ? '' : ` (${details})`}`;
}
