import {createHash} from 'node:crypto';
import type {Session} from '../../formats/session/session.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import type {TemplateValue} from '../../formats/template.ts';
import {toolNamed, tools} from '../../policy/tools.ts';

/** Whose calls they are. */
export interface Caller {
  path: string;
  session: string;
  agent: string;
  template: TemplateValue;
  /** As it is when a call begins. */
  of: Session;
}

export function isCommand(call: Call): boolean {
  return toolNamed(call.function.name) === 'execute_command';
}

export function isRead(call: Call): boolean {
  const name = toolNamed(call.function.name);
  return name !== undefined && tools[name].effect === 'read';
}

/** Whether it may be made again after a crash: what it did, it does not do twice. */
export function isRepeatable(call: Call): boolean {
  const name = toolNamed(call.function.name);
  return name !== undefined && (tools[name].effect === 'read' || tools[name].effect === 'deliver');
}

/** The session as the model had it when it made the call, with the answer: the same however often it is made. */
export function sessionUpToCall({of}: Caller, call: Call): Session {
  const at = of.messages.findLastIndex(({tool_calls}) => tool_calls?.includes(call));
  return at === -1 ? of : {...of, messages: of.messages.slice(0, at + 1)};
}

/** One name for one call of one answer, whatever ids the model gives. */
export function nameOfCall({session, of}: Caller, call: Call): string {
  const {timestamp = ''} = of.messages.findLast(({tool_calls}) => tool_calls?.includes(call)) ?? {};
  const {name, arguments: args} = call.function;
  return createHash('sha256')
    .update(JSON.stringify([session, timestamp, call.id, name, args]))
    .digest('hex')
    .slice(0, 32);
}
