import type {RunStatus, With} from '../agents/state/parts.ts';
import {chooseModel, type ModelChoice} from '../formats/model-choice.ts';
import type {HomeFiles} from '../loop/home-files.ts';
import {announceSandbox} from './confinement.ts';

const AT_LAST_MS = 2_000;
const SOON_MS = 500;
const KEY_HINT = 'for an AI: export OPENAI_API_KEY=… and start again, or list models in agentdir.yaml';

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
  const choice = chooseModel(undefined, await current.settings(), effects.world.environment);
  const words = inWords(choice);
  if (words === status.model || turns.stopped) return;
  status.model = words;
  const isModel = !('failed' in choice) && choice.kind === 'openai';
  const hint = 'kind' in choice && choice.kind === 'playbook' ? KEY_HINT : undefined;
  reports.report({event: 'model', model: words, isModel, ...(hint !== undefined && {hint})});
  reports.changed();
}

function inWords(choice: ModelChoice): string {
  if ('failed' in choice) return `none: ${choice.failed}; ${choice.hint}`;
  if (choice.kind === 'playbook') return `playbook (a script, not an AI): ${choice.why}`;
  return choice.id ?? `the first model of ${choice.baseURL ?? 'the server'}`;
}
