import {agentStates} from '../../check/agent-states.ts';
import type {DelegationServices} from '../../effects/tool/tool.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {planTask} from './plan-task.ts';
import {spawnAgent} from './spawn-agent.ts';
import {startTask} from './start-task.ts';

/** The services of the tools for delegation, for one call. */
export function delegationServices(
  daemon: With<'files' | 'current' | 'turns' | 'mail' | 'spend'>,
  caller: Caller,
  call: Call,
): DelegationServices {
  return {
    planTask: wanted => planTask(daemon, caller, wanted),
    startTask: wanted => startTask(daemon, caller, call, wanted),
    spawnAgent: wanted => spawnAgent(daemon, caller, call, wanted),
    agentStates: () =>
      agentStates(factsOf(daemon.files)).map(({id, status, model, kind, task}) => ({
        ...{name: id, status, kind, model: model ?? undefined},
        task: task ? {id: task.id, title: task.title ?? undefined} : undefined,
      })),
  };
}

function* factsOf({index}: HomeFiles) {
  for (const path of index.paths()) {
    const facts = index.facts(path);
    if (facts) yield [path, facts] as const;
  }
}
