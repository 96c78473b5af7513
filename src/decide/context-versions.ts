import type {ContextState, ContextVersion, Message, SessionHeader} from '../formats/session/session-schema.ts';

/** The checkpoint that stands for the older messages of a session. */
export interface ActiveCheckpoint {
  entry: ContextVersion;
  /** How many messages it stands for, those in segments included. */
  upto: number;
  file: string;
}

/** Undefined: all messages are sent. */
export function activeCheckpoint({context}: Pick<SessionHeader, 'context'>): ActiveCheckpoint | undefined {
  const entry = context?.versions?.find(({version}) => version === context.version);
  if (!entry || entry.version === 1 || entry.upto === undefined || entry.file === undefined) return undefined;
  return {entry, upto: Number(entry.upto.slice('msg-'.length)), file: entry.file};
}

/** The number of the next version. Numbers are never used again, so that redoing an undone version stays possible. */
export function nextVersion({context}: Pick<SessionHeader, 'context'>): number {
  return Math.max(1, ...(context?.versions ?? []).map(({version}) => version)) + 1;
}

/** The context with a new version, which is in force from now on. */
export function withVersion(header: SessionHeader, entry: ContextVersion, now: string): ContextState {
  const {context} = header;
  const {wanted: _, failed: __, ...rest} = context ?? {};
  const original: ContextVersion = {version: 1, reason: 'original', created: header.created ?? now};
  const versions = context?.versions ?? [];
  const known = versions.some(({version}) => version === 1) ? versions : [original, ...versions];
  const from = context?.version ?? 1;
  return {...rest, version: entry.version, versions: [...known, from === 1 ? entry : {...entry, from}]};
}

/** The context with the version before the present one in force; undefined if no checkpoint is. */
export function withFormerVersion({context}: Pick<SessionHeader, 'context'>): ContextState | undefined {
  const entry = context?.versions?.find(({version}) => version === context.version);
  if (!context || !entry || entry.version === 1) return undefined;
  const {wanted: _, failed: __, ...rest} = context;
  const from = context.versions?.some(({version}) => version === entry.from) ? entry.from : 1;
  return {...rest, version: from ?? 1};
}

/** The context without the wish to compact. `failed`: why it was not fulfilled. */
export function withoutWish({context}: Pick<SessionHeader, 'context'>, failed?: string): ContextState | undefined {
  if (!context) return undefined;
  const {wanted: _, failed: __, ...rest} = context;
  return failed === undefined ? rest : {...rest, failed};
}

/** `msg-0147`: the message with this number, as `agentdir show` prints it. */
export function messageName(number: number): string {
  return `msg-${String(number).padStart(4, '0')}`;
}

/** Whether the model has answered since the version was made. */
export function hasAnswered(messages: readonly Message[], {created = ''}: ContextVersion): boolean {
  const last = messages.findLast(({role}) => role === 'assistant');
  return (last?.timestamp ?? '') > created;
}

/** Whether a checkpoint of so many messages parts a call from its result. */
export function partsCall(messages: readonly Message[], upto: number): boolean {
  const called = new Set(messages.slice(0, upto).flatMap(({tool_calls = []}) => tool_calls.map(({id}) => id)));
  return messages.slice(upto).some(({tool_call_id}) => tool_call_id !== undefined && called.has(tool_call_id));
}
