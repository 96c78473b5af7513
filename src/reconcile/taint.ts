import type {Session} from '../files/session/session.ts';
import type {Message} from '../files/session/session-schema.ts';
import {toolNamed} from '../policy/tools.ts';

type Called = NonNullable<Message['tool_calls']>[number]['function'];

/** So many sources are named; one would be enough. */
const MOST = 10;

/**
 * Where text from outside came into a session: messages from an inbox, what those had read who sent others, and results
 * of tools that say so. What the session had been told of before stays, whatever became of the messages.
 */
export function taintOf({header, messages}: Pick<Session, 'header' | 'messages'>): readonly string[] {
  const known = header?.tainted ?? [];
  if (known.length >= MOST) return known;
  const sources = new Set(known);
  for (const [, found] of taintsIn(messages)) for (const each of found) if (sources.size < MOST) sources.add(each);
  return sources.size === known.length ? known : [...sources];
}

/** Messages that bring text from outside, by their place, with where it is from. */
export function* taintsIn(messages: readonly Message[]): Generator<[index: number, sources: readonly string[]]> {
  const calls = new Map<string, Called>();
  for (const [index, message] of messages.entries()) {
    for (const {id, function: called} of message.tool_calls ?? []) calls.set(id, called);
    const sources = [...sourcesOf(message, calls), ...(message.taint ?? [])];
    if (sources.length > 0) yield [index, sources];
  }
}

/**
 * What its header has to say of it, if it does not yet. Goes into the same write as what was read: else a person could take
 * out the message before it is known for good.
 */
export function taintKeys(session: Pick<Session, 'header' | 'messages'>): {tainted?: string[]} {
  const sources = taintOf(session);
  return sources.length === (session.header?.tainted?.length ?? 0) ? {} : {tainted: [...sources]};
}

function sourcesOf(message: Message, calls: ReadonlyMap<string, Called>): readonly string[] {
  if (message.role === 'tool_result') {
    const called = calls.get(message.tool_call_id ?? '');
    const {untrusted, sources} = called ? saidOf(message.content ?? '') : {untrusted: false};
    if (!called || untrusted !== true) return [];
    const named = Array.isArray(sources) ? sources.filter(each => typeof each === 'string' && each !== '') : [];
    return named.length > 0
      ? named
      : [`${toolNamed(called.name) ?? called.name} ${subjectOf(called.arguments)}`.trim()];
  }
  if (message.role !== 'user') return [];
  const from = message.from ?? 'human';
  return message.untrusted === true || from.startsWith('inbox/') ? [from] : [];
}

/** The tool says so of its result, and perhaps where it is from; what stands in the result does not count. */
function saidOf(content: string): {untrusted?: unknown; sources?: unknown} {
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
