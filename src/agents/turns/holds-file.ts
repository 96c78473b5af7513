import {HOLDS_FILE} from '../../formats/common/key.ts';
import {type HoldsFile, holdOf} from '../../formats/holds-file.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import type {With} from '../state/parts.ts';

/**
 * state/agents.yaml: agents that are stopped. A change drops the questions of their sessions, which are asked again when the agent is
 * started, and ends their calls.
 */
export function holdsReconciler({files, turns}: With<'files' | 'turns'>): Reconciler {
  const follow = (value: HoldsFile['value']) => {
    for (const path of files.index.paths()) {
      const {agent, status} = files.index.facts(path)?.session ?? {};
      if (agent === undefined || status === 'completed') continue;
      const held = holdOf(value, agent);
      if (held) {
        turns.dropQuestions(path);
        turns.endCalls(`the agent is ${held.status}`, path);
      }
      if (status !== 'sleeping' || turns.has(path)) lookAgain(files, path);
    }
    // A workflow instance waits for a person while an agent of it is stopped.
    for (const path of files.index.pathsOf('run')) lookAgain(files, path);
  };
  return {
    kind: 'state',
    owns: path => path === HOLDS_FILE,
    accepted: ({parsed}) => {
      if (parsed?.kind === 'holds' && parsed.file.value) follow(parsed.file.value);
    },
    removed: () => follow({}),
  };
}
