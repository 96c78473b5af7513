import {agentNameIn} from '../../decide/new-tasks.ts';
import {taintOf} from '../../decide/taint.ts';
import type {ToolResult} from '../../effects/tool/tool.ts';
import {stemOf} from '../../formats/common/key.ts';
import {escapeAll} from '../../formats/common/visible.ts';
import {type Chain, chainOf} from '../../formats/session/chain.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Call, Message} from '../../formats/session/session-schema.ts';
import {readHomeFile} from '../../home/read.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import {tooManyCaused} from '../sessions/budget.ts';
import {type Caller, nameOfCall, sessionUpToCall} from '../state/caller.ts';
import type {DeliveryPlace} from '../state/mail.ts';
import type {With} from '../state/parts.ts';
import {agentExists, agentMeant, isPersonIn, suggestAgents} from './agents.ts';
import {type Receiver, sessionOfAgent, sharedSession} from './receivers.ts';
import {reportIfStuck} from './report-if-stuck.ts';

export interface OutgoingMessage {
  to: string;
  content: string;
  priority?: 'normal' | 'high' | undefined;
}

/**
 * Send a message from one agent to another. Resolves once it is durable in the receiver's session. The id derives from
 * the call, so that a call repeated after a crash does not deliver twice.
 */
export async function sendMessage(
  daemon: With<'files' | 'mail' | 'spend'>,
  caller: Caller,
  call: Call,
  {to: wanted, content, priority}: OutgoingMessage,
): Promise<ToolResult> {
  const {files} = daemon;
  const to = agentMeant(files, agentNameIn(wanted), caller.agent);
  const refused = (error: string): ToolResult => ({success: false, code: 'INVALID_ARGUMENTS', error});
  if (isPersonIn(files, to))
    return refused('to: a person has no inbox of messages; use ask_human, or a task for @human');
  if (to === caller.agent) return refused('to: that is yourself');
  if (!agentExists(files, to)) return refused(`to: there is no agent ${escapeAll(to)}; ${suggestAgents(files, to)}`);
  const id = `${caller.session}#${nameOfCall(caller, call).slice(0, 12)}`;
  // Ignore messages that arrived after the answer: they change neither the receiver nor the chain.
  const upTo = sessionUpToCall(caller, call);
  const before = call.started === undefined ? undefined : deliveredBefore(files, to, id);
  if (before !== undefined) return {success: true, to, session: before};
  const chain = chainOf(upTo.messages, stemOf(caller.path));
  const tooMany = tooManyCaused(daemon, chain.chain, 'messages', 1);
  if (tooMany) return tooMany;
  const delivered = daemon.spend.causes.expect(chain.chain, {messages: 1});
  return post(daemon, receiverFor(files, upTo, to), to, id, {
    ...messageFrom(caller, content, chain),
    ...(priority === 'high' && {priority}),
  }).finally(delivered);
}

/** For a call repeated after a crash: the receiver's session that has the message, even if it is completed by now. */
function deliveredBefore({disk, index}: HomeFiles, to: string, id: string): string | undefined {
  for (const {id: session, agent} of index.sessions()) {
    const path = agent === to ? index.definitionsOf(`session/${session}`)[0]?.path : undefined;
    const read = path === undefined ? undefined : readHomeFile(disk, path);
    if (read && 'text' in read && read.text.includes(id)) return session;
  }
  return undefined;
}

/** The fields of every message from an agent: sender, reply address, chain and taint. */
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

/** A reply goes to the session that the other agent wrote from, any other message to its shared session. */
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
      const destination = where();
      if (mail.takeBack(destination, id))
        resolve({
          success: false,
          code: 'FAILED',
          error: `it could not be delivered: ${destination} cannot be written now`,
        });
    });
    const delivered = ({session}: DeliveryPlace) => {
      stop();
      resolve({success: true, to, session});
    };
    mail.post(path, {id, agent: to, message, opening, unsure, delivered});
    lookAgain(files, path);
  });
}
