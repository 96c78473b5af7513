import {taintOf} from '../../decide/taint.ts';
import {delegationWords} from '../../decide/task-words.ts';
import {withHeader} from '../../decide/turn.ts';
import {stemOf} from '../../formats/common/key.ts';
import {chainOf} from '../../formats/session/chain.ts';
import type {Session} from '../../formats/session/session.ts';
import {lookAgain} from '../../loop/look-again.ts';
import {openSession} from '../mail/receivers.ts';
import type {SessionStep} from '../sessions/step.ts';
import type {With} from '../state/parts.ts';
import {sessionPath} from './start-task.ts';

/**
 * Report the result of a task to the session that gave it: its call takes the result, or it gets a message if it went on
 * without. Then the session owes nobody anything.
 */
export function reportStep(
  daemon: With<'files' | 'turns' | 'mail'>,
  path: string,
  session: Session,
  now: string,
): SessionStep | undefined {
  const {files, turns} = daemon;
  const {header} = session;
  if (!header?.result_due || !header.parent || !header.result) return undefined;
  const id = header.session_id ?? stemOf(path);
  const asked = sessionPath(files, header.parent.session);
  // It has errors; once they are fixed, it is looked at again.
  if (asked !== undefined && files.index.facts(asked)?.session === undefined) return undefined;
  const isOpen = openSession(files, header.parent.session) !== undefined;
  const state = asked === undefined ? undefined : files.index.facts(asked)?.session?.children?.[id];
  if (asked !== undefined && isOpen && state === 'open') return undefined;
  if (asked === undefined || !isOpen || state === 'ended' || turns.delegated.reported.has(path))
    return {
      session: withHeader(session, {result_due: undefined}, now),
      entry: {words: 'the result of its task is reported', cause: 'result', agent: header.agent_id},
      done: () => void turns.delegated.reported.delete(path),
    };
  postResult(daemon, path, session, asked);
  return undefined;
}

function postResult(
  {files, turns, mail}: With<'files' | 'turns' | 'mail'>,
  path: string,
  session: Session,
  to: string,
) {
  const {header, messages} = session;
  const agent = files.index.facts(to)?.session?.agent;
  if (!header?.result || agent === undefined) return;
  const id = header.session_id ?? stemOf(path);
  const taint = taintOf(session);
  mail.post(to, {
    ...{id: `result/${id}`, agent, opening: {}},
    message: {
      from: `task/${id}`,
      content: delegationWords(header.agent_id, id, messages[0]?.content ?? '', header.result),
      ...chainOf(messages, id),
      ...(taint.length > 0 && {taint: [...taint]}),
    },
    delivered: () => {
      turns.delegated.reported.add(path);
      lookAgain(files, path);
    },
  });
  lookAgain(files, to);
}

/** The session that gave the task gets no result any more. */
export function noteRemovedChild({files, turns}: With<'files' | 'turns'>, path: string): void {
  const id = stemOf(path);
  turns.delegated.ended(path);
  const parent = /^(.+)\.\d+$/.exec(id)?.[1];
  const asked = parent === undefined ? undefined : sessionPath(files, parent);
  if (asked === undefined) return;
  turns.delegated.removed.add(id);
  lookAgain(files, asked);
}
