import {unlinkSync} from 'node:fs';
import {join} from 'node:path';
import type {AgentState} from '../../../check/agent-states.ts';
import {SPAWNED} from '../../../check/spawned-agent.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {agentName} from '../talk/find-agent.ts';
import {agentStatesOf} from './agent-rows.ts';

/**
 * Removes an agent that `agents add` or `agent_spawn` added. Its sessions and its workspace stay, and git has its template. Not while it
 * has work, unless `force`.
 */
export function removeAgent(home: string, wanted: string, force: boolean): AgentState {
  const name = agentName(home, wanted);
  const state = agentStatesOf(home).find(({id}) => id === name);
  if (!state) throw new UserError(`no agent "${wanted}"`, exit.usage, 'see agentdir agents');
  const {file, status, open_tasks} = state;
  if (!file.startsWith(SPAWNED))
    throw new UserError(
      `${name} was not added by agentdir agents add, so this command does not remove it`,
      exit.failed,
      `to remove it, delete ${file}`,
    );
  const busy = status === 'active' || status === 'waiting';
  if ((busy || open_tasks > 0) && !force)
    throw new UserError(
      busy
        ? `${name} is at work (${status})`
        : `${name} has ${open_tasks === 1 ? 'an open task' : `${open_tasks} open tasks`}`,
      exit.failed,
      `to remove it anyway: agentdir agents rm ${name} --force`,
    );
  unlinkSync(join(home, file));
  return state;
}
