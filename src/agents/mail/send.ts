import {taintOf} from '../../decide/taint.ts';
import type {ToolResult} from '../../effects/tool/tool.ts';
import {type Chain, chainOf} from '../../formats/session/chain.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Call, Message} from '../../formats/session/session-schema.ts';
import {readHomeFile} from '../../home/read.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import {type Caller, nameOfCall, sessionUpToCall} from '../state/caller.ts';
import type {DeliveryPlace} from '../state/mail.ts';
import type {With} from '../state/parts.ts';
import {agentExists, suggestAgents} from './agents.ts';
import {type Receiver, sessionOfAgent, sharedSession} from './receivers.ts';
import {reportIfStuck} from './report-if-stuck.ts';

export interface OutgoingMessage {
  to: string;
  content: string;
  priority?: 'normal' | 'high' | undefined;
}

/**
 * A message from one agent to another, as a turn of the receiver. By the id of the call, so that the same call made
 * again after a crash delivers nothing twice. It is durable there when this is over.
 */
export async function sendMessage(
  daemon: With<'files' | 'mail'>,
  caller: Caller,
  call: Call,
  {to: wanted, content, priority}: OutgoingMessage,
): Promise<ToolResult> {
  const {files} = daemon;
  const to = wanted.trim().replace(/^@/, '');
  const refused = (error: string): ToolResult => ({success: false, code: 'INVALID_ARGUMENTS', error});
  if (to === 'human') return refused('to: a person has no inbox of messages; use ask_human, or a task for @human');
  if (to === caller.agent) return refused('to: that is yourself');
  if (!agentExists(files, to)) return refused(`to: there is no agent "${to}"; ${suggestAgents(files, to)}`);
  const id = `${caller.session}#${nameOfCall(caller, call).slice(0, 12)}`;
  // What came since the model answered changes neither whom it meant nor what led to it.
  const upTo = sessionUpToCall(caller, call);
  const before = call.started === undefined ? undefined : deliveredBefore(files, to, id);
  if (before !== undefined) return {success: true, to, session: before};
  return post(daemon, receiverFor(files, upTo, to), to, id, {
    ...messageFrom(caller, content, chainOf(upTo.messages, `${caller.session}#${call.id}`)),
    ...(priority === 'high' && {priority}),
  });
}

/** A call that is made again, after a crash: the session of the agent that has its message, whatever became of it since. */
function deliveredBefore({disk, index}: HomeFiles, to: string, id: string): string | undefined {
  for (const {id: session, agent} of index.sessions()) {
    const path = agent === to ? index.definitionsOf(`session/${session}`)[0]?.path : undefined;
    const read = path === undefined ? undefined : readHomeFile(disk, path);
    if (read && 'text' in read && read.text.includes(id)) return session;
  }
  return undefined;
}

/** What every message of an agent says of where it comes from, and of what led to it. */
export function messageFrom(
  {agent, session, of}: Pick<Caller, 'agent' | 'session' | 'of'>,
  content: string,
  chain: Chain,
): Pick<Message, 'from' | 'content'> & Partial<Message> {
  const taint = taintOf(of);
  return {
    from: `@${agent}`,
    content,
    reply_to: session,
    ...chain,
    ...(taint.length > 0 && {taint: [...taint]}),
  };
}

/** An answer goes to the session that the other wrote from; anything else to where the agent's deliveries go. */
export function receiverFor(files: HomeFiles, of: Session, to: string): Receiver {
  const asked = of.messages.findLast(({role, from}) => role === 'user' && from === `@${to}`);
  return sessionOfAgent(files, asked?.reply_to, to) ?? sharedSession(files, to);
}

async function post(
  {files, mail}: With<'files' | 'mail'>,
  {path, opening, unsure}: Receiver,
  to: string,
  id: string,
  message: Pick<Message, 'from' | 'content'> & Partial<Message>,
): Promise<ToolResult> {
  return new Promise<ToolResult>(resolve => {
    const where = () => mail.destinationOf(id) ?? path;
    const stop = reportIfStuck(files, where, () => {
      const there = where();
      if (mail.takeBack(there, id))
        resolve({success: false, code: 'FAILED', error: `it could not be delivered: ${there} cannot be written now`});
    });
    const delivered = ({session}: DeliveryPlace) => {
      stop();
      resolve({success: true, to, session});
    };
    mail.post(path, {id, agent: to, message, opening, unsure, delivered});
    lookAgain(files, path);
  });
}
