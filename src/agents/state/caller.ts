import {createHash} from 'node:crypto';
import type {Session} from '../../formats/session/session.ts';
import type {Call, SessionHeader} from '../../formats/session/session-schema.ts';
import type {TemplateValue} from '../../formats/template.ts';
import {toolNamed, tools, withoutDelegation} from '../../policy/tools.ts';

/** The session, agent and template that calls are made for. */
export interface Caller {
  path: string;
  session: string;
  agent: string;
  template: TemplateValue;
  /** The session when the call begins. */
  of: Session;
}

/** Whether the session does a task for another one. */
export function isChild(header: SessionHeader | undefined): boolean {
  return header?.parent !== undefined;
}

/** The tools of the agent in this session: one that does a task for another gives none itself. */
export function capabilitiesOf({template, of}: Pick<Caller, 'template' | 'of'>): readonly string[] {
  return isChild(of.header) ? withoutDelegation(template.capabilities) : template.capabilities;
}

/** Whether the call gives a task to another session. */
export function isTask(call: Call): boolean {
  return toolNamed(call.function.name) === 'task';
}

export function isCommand(call: Call): boolean {
  return toolNamed(call.function.name) === 'execute_command';
}

export function isRead(call: Call): boolean {
  const name = toolNamed(call.function.name);
  return name !== undefined && tools[name].effect === 'read';
}

/** Whether the call is idempotent, so that it may be repeated after a crash. */
export function isRepeatable(call: Call): boolean {
  const name = toolNamed(call.function.name);
  return name !== undefined && (tools[name].effect === 'read' || tools[name].effect === 'deliver');
}

/** The session up to and including the answer with this call. Does not depend on later messages. */
export function sessionUpToCall({of}: Caller, call: Call): Session {
  const at = of.messages.findLastIndex(({tool_calls}) => tool_calls?.includes(call));
  return at === -1 ? of : {...of, messages: of.messages.slice(0, at + 1)};
}

/** A unique name for a call, even if the model reuses ids. */
export function nameOfCall({session, of}: Caller, call: Call): string {
  const {timestamp = ''} = of.messages.findLast(({tool_calls}) => tool_calls?.includes(call)) ?? {};
  const {name, arguments: args} = call.function;
  return createHash('sha256')
    .update(JSON.stringify([session, timestamp, call.id, name, args]))
    .digest('hex')
    .slice(0, 32);
}
