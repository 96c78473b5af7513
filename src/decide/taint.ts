import type {Session} from '../formats/session/session.ts';
import type {Message} from '../formats/session/session-schema.ts';
import {SettledPrefix} from '../formats/session/settled-prefix.ts';
import {toolNamed} from '../policy/tools.ts';

type Called = NonNullable<Message['tool_calls']>[number]['function'];

/** How many sources are recorded; one would be enough. */
const MAX_SOURCES = 10;

/**
 * The sources of outside text in a session: inbox messages, taint that messages from agents carry, and untrusted tool
 * results. Sources in the header stay, even if their messages were removed.
 */
export function taintOf({header, messages}: Pick<Session, 'header' | 'messages'>): readonly string[] {
  const known = header?.tainted ?? [];
  if (known.length >= MAX_SOURCES) return known;
  const {state, count} = settled.of(messages);
  const sources = new Set(known);
  const add = (each: string) => sources.size < MAX_SOURCES && sources.add(each);
  for (const each of state) add(each);
  for (let i = count; i < messages.length; i++) for (const each of taintsOf(messages, i)) add(each);
  return sources.size === known.length ? known : [...sources];
}

/** Caches the sources of the settled messages of a long conversation. */
const settled = new SettledPrefix<Set<string>>(
  () => new Set(),
  (sources, _message, index, messages) => {
    for (const each of taintsOf(messages, index)) sources.add(each);
  },
);

/** Indexes of messages with outside text, with its sources. */
export function* taintsIn(messages: readonly Message[]): Generator<[index: number, sources: readonly string[]]> {
  for (const index of messages.keys()) {
    const sources = taintsOf(messages, index);
    if (sources.length > 0) yield [index, sources];
  }
}

const NONE: readonly string[] = [];

function taintsOf(messages: readonly Message[], index: number): readonly string[] {
  const message = messages[index] as Message;
  const own = sourcesOf(messages, index, message);
  return message.taint ? [...own, ...message.taint] : own;
}

/**
 * The header field to add if sources are missing there. Must be written together with the message that adds the source:
 * otherwise a person could remove the message before the taint is recorded.
 */
export function taintKeys(session: Pick<Session, 'header' | 'messages'>): {tainted?: string[]} {
  const sources = taintOf(session);
  return sources.length === (session.header?.tainted?.length ?? 0) ? {} : {tainted: [...sources]};
}

function sourcesOf(messages: readonly Message[], index: number, message: Message): readonly string[] {
  if (message.role === 'tool_result') {
    const {untrusted, sources} = untrustedMark(message.content ?? '');
    const called = untrusted === true ? calledBefore(messages, index, message.tool_call_id ?? '') : undefined;
    if (!called) return NONE;
    const named = Array.isArray(sources) ? sources.filter(each => typeof each === 'string' && each !== '') : [];
    return named.length > 0
      ? named
      : [`${toolNamed(called.name) ?? called.name} ${subjectOf(called.arguments)}`.trim()];
  }
  if (message.role !== 'user') return NONE;
  const from = message.from ?? 'human';
  return message.untrusted === true || from.startsWith('inbox/') ? [from] : NONE;
}

/** The call that a result answers. */
function calledBefore(messages: readonly Message[], index: number, id: string): Called | undefined {
  for (let i = index; i >= 0; i--) {
    const call = messages[i]?.tool_calls?.findLast(each => each.id === id);
    if (call) return call.function;
  }
  return undefined;
}

/** The tool's own mark that its result is untrusted, and its sources. Nested content does not count. */
function untrustedMark(content: string): {untrusted?: unknown; sources?: unknown} {
  if (!content.includes('"untrusted":true')) return {};
  try {
    return JSON.parse(content) as {untrusted?: unknown};
  } catch {
    return {untrusted: true};
  }
}

function subjectOf(args: string): string {
  try {
    const {url, command, path, pattern, query, channel} = JSON.parse(args) as Record<string, unknown>;
    const subject = url ?? command ?? path ?? pattern ?? query ?? channel;
    return typeof subject === 'string' ? subject.replace(/\s+/g, ' ').slice(0, 200) : '';
  } catch {
    return '';
  }
}
