import type {With} from '../agents/state/parts.ts';
import type {Sandbox, SandboxState} from '../effects/sandbox/sandbox.ts';

/** The sandbox of this machine. Its code is loaded on demand. */
export function lazySandbox(home: string): Sandbox {
  let made: Promise<Sandbox> | undefined;
  return {
    state: async () => {
      made ??= import('../effects/sandbox/sandbox.ts').then(({makeSandbox}) => makeSandbox(home));
      return (await made).state();
    },
  };
}

const AGAIN_MS = 2_000;

/** Report how commands are confined, if that has changed. */
export async function announceSandbox(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'effects' | 'status'>,
): Promise<void> {
  const {reports, turns, status} = daemon;
  if (turns.stopped) return;
  const mode = (await daemon.current.settings()).sandbox ?? 'auto';
  const state = mode === 'off' ? undefined : await daemon.effects.sandbox.state();
  const sandbox = inWords(mode, state);
  const hint = state && state.state !== 'works' ? state.hint : undefined;
  const words = hint === undefined ? sandbox : `${sandbox}; ${hint}`;
  const isUntested = state?.state === 'untested';
  if (isUntested) daemon.files.disk.clock.after(AGAIN_MS, () => void announceSandbox(daemon));
  if (words === status.confinement || turns.stopped) return;
  status.confinement = words;
  const confines = state?.state === 'works';
  reports.report({event: 'sandbox', sandbox, confines, ...(hint !== undefined && {hint})});
  reports.troubles.set('sandbox', isUntested || (mode === 'require' && !confines) ? words : undefined);
  reports.changed();
}

function inWords(mode: 'auto' | 'require' | 'off', state: SandboxState | undefined): string {
  if (!state)
    return 'disabled in agentdir.yaml: plain commands that the policy allows run unconfined, all others need approval';
  if (state.state === 'works')
    return `bubblewrap ${state.version}, tested: commands see only their workspace and have no network`;
  if (state.state === 'untested') return `not tested yet: ${state.why}; commands wait until it is`;
  const cost =
    mode === 'require'
      ? 'no command runs (sandbox: require)'
      : 'plain commands that the policy allows run unconfined, all others need approval';
  return `none: ${state.why}; ${cost}`;
}
