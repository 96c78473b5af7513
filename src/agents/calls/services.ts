import type {ContextServices, DelegationServices} from '../../effects/tool/tool.ts';
import {stemOf} from '../../formats/common/key.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import type {DaemonServices} from '../../runners/runner.ts';
import {endUnconfined} from '../approvals/protected-files.ts';
import {sendMessage} from '../mail/send.ts';
import {type Caller, nameOfCall} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {createTasks} from '../tasks/create-tasks.ts';
import {updateTaskForAgent} from '../tasks/update-task.ts';
import {runQuery} from './query.ts';
import {recallMessages} from './recall-messages.ts';
import {recordSent} from './record-sent.ts';
import {addMemoryNote} from './remember.ts';

/** The daemon services that a running call may use, except those for workflows and delegation. */
export function servicesFor(
  daemon: With<
    'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'tasks' | 'notes' | 'spend' | 'effects'
  >,
  caller: Caller,
  call: Call,
  signal: AbortSignal,
): Omit<DaemonServices, keyof ContextServices | keyof DelegationServices> {
  const {files} = daemon;
  const {index} = files;
  return {
    remember: (file, text) => addMemoryNote(daemon, caller, call, {file, text}),
    createTask: task => createTasks(daemon, caller, call, task),
    updateTask: change => updateTaskForAgent(daemon, caller, call, change),
    send: message => sendMessage(daemon, caller, call, message),
    query: text => runQuery(daemon, text, signal),
    recall: wanted => recallMessages(daemon, caller, wanted),
    ended: () => endUnconfined(daemon, nameOfCall(caller, call)),
    sent: (file, record) => recordSent(daemon, file, record),
    agents: () =>
      index.pathsOf('template').map(path => {
        const {type, description} = index.facts(path)?.agent ?? {};
        return {id: stemOf(path), type: type ?? undefined, description: description ?? undefined};
      }),
    sessions: () =>
      [...index.sessions()].map(({id, agent: of, status, updated}) => ({
        id,
        agent: of,
        status: status ?? 'new',
        updated: updated ?? undefined,
      })),
  };
}
