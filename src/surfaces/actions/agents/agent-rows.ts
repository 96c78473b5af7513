import {type AgentState, agentStates} from '../../../check/agent-states.ts';
import {unreadFacts} from '../../../check/facts.ts';
import {factsOf} from '../../../check/read-facts.ts';
import {holdOf} from '../../../formats/holds-file.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listHome, readHomeFile} from '../../../home/read.ts';
import {soundHolds} from './holds.ts';

/** All agents with what they do now, done ones included. Reads templates, sessions and task files. */
export function agentStatesOf(home: string): AgentState[] {
  const {paths} = listHome(nodeDisk(home), ['templates', 'sessions', 'tasks', '.workflow']);
  const holds = soundHolds(home);
  const states = agentStates(
    paths.map(path => {
      const read = readHomeFile(nodeDisk(home), path);
      return [path, read && 'text' in read ? factsOf(path, read.text) : unreadFacts(path, [])] as const;
    }),
  );
  return states.map(state => ({...state, status: holdOf(holds, state.id)?.status ?? state.status}));
}
