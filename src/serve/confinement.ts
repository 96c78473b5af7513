import type {Sandbox, SandboxState} from '../effects/sandbox/sandbox.ts';
import type {Serving} from './serving.ts';

/** The sandbox of this machine; what tests it is loaded with the first question. */
export function lazySandbox(home: string): Sandbox {
  let made: Promise<Sandbox> | undefined;
  return {
    state: async () => {
      made ??= import('../effects/sandbox/sandbox.ts').then(({makeSandbox}) => makeSandbox(home));
      return (await made).state();
    },
  };
}

/** Say how commands are confined, if that is not known yet: loudly if they are not. */
export async function announceSandbox(serving: Serving): Promise<void> {
  if (serving.turns.stopped) return;
  const mode = (await serving.current.settings()).sandbox ?? 'auto';
  const state = mode === 'off' ? undefined : await serving.sandbox.state();
  const words = inWords(mode, state);
  if (words === serving.confinement || serving.turns.stopped) return;
  serving.confinement = words;
  const confines = state?.state === 'works';
  serving.report({event: 'sandbox', sandbox: words, confines});
  serving.troubles.set('sandbox', mode === 'require' && !confines ? words : undefined);
  serving.onChanged();
}

function inWords(mode: 'auto' | 'require' | 'off', state: SandboxState | undefined): string {
  if (!state) return 'off by agentdir.yaml: plain commands that the policy allows run unconfined, all others ask';
  if (state.state === 'works')
    return `bubblewrap ${state.version}, tested: commands see only their workspace, and no network`;
  const cost =
    mode === 'require'
      ? 'no command runs (sandbox: require)'
      : 'plain commands that the policy allows run unconfined, all others ask';
  return `none: ${state.why}; ${cost}; ${state.hint}`;
}
