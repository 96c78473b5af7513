import {isPersonIn} from '../agents/mail/agents.ts';
import {tooManyCaused} from '../agents/sessions/budget.ts';
import {type Caller, nameOfCall, sessionUpToCall} from '../agents/state/caller.ts';
import type {With} from '../agents/state/parts.ts';
import type {EditedDocument} from '../agents/state/workflows.ts';
import {taintOf} from '../decide/taint.ts';
import type {ContextServices, ToolFailure, ToolResult} from '../effects/tool/tool.ts';
import {agentMentions, type ChannelEntry, entryHead} from '../formats/channel.ts';
import {cursorAt, readBy} from '../formats/channel-cursor.ts';
import {stemOf} from '../formats/common/key.ts';
import {isTime} from '../formats/common/values.ts';
import {mergeLines} from '../formats/merge/merge-lines.ts';
import {channelPath, documentPath, isInMemory, memberOf, type Run} from '../formats/run.ts';
import {chainOf} from '../formats/session/chain.ts';
import type {Call} from '../formats/session/session-schema.ts';
import {blobId} from '../home/git/blob-id.ts';
import {versionText} from '../loop/accept-version.ts';
import {changeRun} from './changes.ts';
import {postEntry} from './channels.ts';
import {editDocument, PATIENCE_MS} from './documents.ts';
import {channelEntries, documentText} from './texts.ts';

type Needs = With<'files' | 'current' | 'spend' | 'workflows'>;

/** Longer messages belong into the document. */
const LONGEST_MESSAGE = 100_000;
const LONGEST_DOCUMENT = 2_000_000;
const PEEKED = 20;
const MOST_ENTRIES = 200;

/** The tools for channel and document, for one call. */
export function contextServices(daemon: Needs, caller: Caller, call: Call): ContextServices {
  const own = memberOf(caller.agent);
  /** Run with the agent's instance, or fail: it has none, or its file has errors. */
  const within = async (work: (run: Run, name: string) => Promise<ToolResult>): Promise<ToolResult> => {
    const run = own && (await daemon.current.run(own.instance));
    if (!run || !own || run.definitions[own.name] === undefined)
      return refused('NOT_ALLOWED', 'this agent belongs to no workflow instance, so it has no channel and no document');
    return work(run, own.name);
  };
  return {
    channelSend: ({message}) => within((run, name) => sendEntry(daemon, {caller, call, run, name}, message)),
    channelRead: wanted => within((run, name) => readEntries(daemon, {caller, call, run, name}, wanted)),
    channelPeek: ({limit = PEEKED}) =>
      within(async run => {
        const entries = await channelEntries(daemon, run);
        const from = Math.max(0, entries.length - Math.min(limit, MOST_ENTRIES));
        return {success: true, ...shown(entries, from, entries.length), ...(from > 0 && {more: from}), ...marks(run)};
      }),
    documentRead: () =>
      within(async run => {
        const content = await documentText(daemon, run);
        return {success: true, content, version: blobId(Buffer.from(content)), ...marks(run)};
      }),
    documentWrite: ({content}) => within((run, name) => writeDocument(daemon, {caller, call, run, name}, content)),
    documentAppend: ({content}) =>
      within((run, name) =>
        changeDocument(daemon, {caller, call, run, name}, current => ({
          text: appended(current, content),
          merged: false,
        })),
      ),
  };
}

interface ContextCall {
  caller: Caller;
  call: Call;
  run: Run;
  /** The agent's name within the instance. */
  name: string;
}

async function sendEntry(daemon: Needs, {caller, call, run, name}: ContextCall, message: string): Promise<ToolResult> {
  const {files, workflows} = daemon;
  if (message.trim() === '') return refused('INVALID_ARGUMENTS', 'message: expected text, got nothing but blanks');
  if (message.length > LONGEST_MESSAGE)
    return refused(
      'INVALID_ARGUMENTS',
      `message: expected at most ${LONGEST_MESSAGE} characters, got ${message.length}; write long texts into the document, and name it here`,
    );
  const agents = Object.keys(run.agents);
  const {names, unknown} = agentMentions(message, agents, run.instance);
  const wakes = names.filter(each => each !== name);
  const upTo = sessionUpToCall(caller, call);
  const chain = chainOf(upTo.messages, stemOf(caller.path));
  const tooMany = wakes.length > 0 ? tooManyCaused(daemon, chain.chain, 'messages', wakes.length) : undefined;
  if (tooMany) return tooMany;
  if (!(await spreadTaint(daemon, caller, run))) return notWritten('run.yaml');
  const time = timeOfCall(caller, call);
  workflows.chains.set(`${channelPath(run.instance)} ${entryHead({time, from: name})}`, chain);
  const n = await new Promise<number | undefined>(resolve => {
    const post = {
      time,
      from: name,
      text: message,
      agent: caller.agent,
      written: (entry: number) => {
        cancel();
        resolve(entry);
      },
    };
    const cancel = files.disk.clock.after(
      PATIENCE_MS,
      () => workflows.posts.remove(channelPath(run.instance), post) && resolve(undefined),
      'held',
    );
    postEntry(daemon, run, post);
  });
  if (n === undefined) return notWritten('channel.md');
  const others = unknown.filter(each => !isPersonIn(files, each));
  return {
    success: true,
    entry: n,
    wakes,
    ...(others.length > 0 && {
      unknown: others,
      hint: `nobody is woken by these; the team is ${agents.map(each => `@${each}`).join(', ')}`,
    }),
  };
}

/** A stable time for an entry: that of the answer with the call, and a millisecond for each call before it. So a repeated call writes the same entry. */
function timeOfCall({of}: Caller, call: Call): string {
  const answer = of.messages.findLast(({tool_calls}) => tool_calls?.some(({id}) => id === call.id));
  const before = Math.max(0, answer?.tool_calls?.findIndex(({id}) => id === call.id) ?? 0);
  const time = Date.parse(answer?.timestamp ?? '');
  return new Date((Number.isNaN(time) ? 0 : time) + before).toISOString();
}

/** Entries that the agent has not had. They count as read once the cursor is durable; the same call, repeated after a crash, gets them again. */
async function readEntries(
  daemon: Needs,
  {caller, call, run, name}: ContextCall,
  {since, limit = MOST_ENTRIES}: {since?: string | undefined; limit?: number | undefined},
): Promise<ToolResult> {
  const entries = await channelEntries(daemon, run);
  const id = nameOfCall(caller, call);
  const cursor = run.cursors?.[name];
  const unread = readBy(entries, cursor);
  if (cursor?.call === id) return {success: true, ...shown(entries, cursor.from ?? 0, unread), ...marks(run)};
  const from = since === undefined ? unread : placeAfter(entries, since);
  if (from === undefined)
    return refused(
      'INVALID_ARGUMENTS',
      `since: expected the time or the number of an entry, such as ${entries.at(-1)?.time ?? '2026-01-31T09:00:00.000Z'} or 7, got ${JSON.stringify(since?.slice(0, 80))}`,
    );
  const to = Math.min(entries.length, from + Math.min(limit, MOST_ENTRIES));
  const saved = await changeRun(daemon, run.instance, `@${name} has read the channel`, now => {
    const read = Math.max(to, readBy(entries, now.cursors?.[name]));
    return {...now, cursors: {...now.cursors, [name]: {...cursorAt(entries, read), call: id, from}}};
  });
  if (!saved) return notWritten('run.yaml');
  return {
    success: true,
    ...shown(entries, from, to),
    ...(to < entries.length && {more: entries.length - to}),
    ...marks(run),
  };
}

/** How many entries come before those after this time or number. Undefined: it is neither. */
export function placeAfter(entries: readonly ChannelEntry[], since: string): number | undefined {
  if (/^\d{1,9}$/.test(since)) return Math.min(Number(since), entries.length);
  const exact = entries.findLastIndex(({time}) => time === since);
  if (exact !== -1) return exact + 1;
  if (!isTime(since)) return undefined;
  const first = entries.findIndex(({time}) => isTime(time) && Date.parse(time) > Date.parse(since));
  return first === -1 ? entries.length : first;
}

function shown(entries: readonly ChannelEntry[], from: number, to: number): {entries: unknown[]} {
  return {
    entries: entries
      .slice(from, to)
      .map(({time, from: author, text}, i) => ({n: from + i + 1, time, from: author, text})),
  };
}

/** Marks a result if text from outside may have come into the channel or the document. */
function marks({tainted = []}: Run): {untrusted?: true; sources?: string[]} {
  return tainted.length > 0 ? {untrusted: true, sources: [...tainted]} : {};
}

/** Record in run.yaml what the agent has read from outside, before others can read what it writes. False: that could not be written. */
async function spreadTaint(daemon: Needs, {of}: Caller, run: Run): Promise<boolean> {
  const known = run.tainted ?? [];
  const more = taintOf(of).filter(source => !known.includes(source));
  // One source is enough for the mark.
  if (more.length === 0 || known.length >= MOST_SOURCES) return true;
  return changeRun(daemon, run.instance, 'what came from outside is in the channel', now => ({
    ...now,
    tainted: [...new Set([...(now.tainted ?? []), ...more])].slice(0, MOST_SOURCES),
  }));
}

const MOST_SOURCES = 10;

async function writeDocument(daemon: Needs, given: ContextCall, content: string): Promise<ToolResult> {
  const base = await baseOf(daemon, given);
  return changeDocument(daemon, given, current => {
    if (base === current || current === content) return {text: content, merged: false};
    // The agent has not read what is there: nothing of it is lost.
    if (base === undefined)
      return current.trim() === '' ? {text: content, merged: false} : {text: appended(current, content), merged: true};
    const {text, conflicts} = mergeLines(base, content, current);
    if (conflicts.length > 0)
      return {failed: 'others have changed the same lines since you read the document; read it again, then write'};
    return {text, merged: true};
  });
}

/** The version that the agent has read or written last. Undefined: none, or it is gone. */
async function baseOf({files, workflows}: Needs, {caller, run}: ContextCall): Promise<string | undefined> {
  const {messages} = caller.of;
  for (let i = messages.length - 1; i >= 0; i--) {
    const {role, content, tool_call_id: id} = messages[i] as (typeof messages)[number];
    if (role !== 'tool_result' || !content?.includes('"version"')) continue;
    const made = messages.findLast(({tool_calls}) => tool_calls?.some(each => each.id === id));
    const name = made?.tool_calls?.find(each => each.id === id)?.function.name ?? '';
    if (!/^document_(?:read|write|append)$/.test(name)) continue;
    const result = parsed(content);
    if (result?.success !== true || typeof result.version !== 'string') continue;
    const path = documentPath(run.instance);
    const read = typeof result.content === 'string' ? result.content : undefined;
    if (isInMemory(run)) return read ?? workflows.memoryText(path);
    return (await versionText(files, result.version, path)) ?? read;
  }
  return undefined;
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

async function changeDocument(
  daemon: Needs,
  {caller, run}: ContextCall,
  edit: (current: string) => EditedDocument,
): Promise<ToolResult> {
  if (!(await spreadTaint(daemon, caller, run))) return notWritten('run.yaml');
  const result = await editDocument(daemon, run, {
    agent: caller.agent,
    edit: current => {
      const edited = edit(current);
      if ('failed' in edited || edited.text.length <= LONGEST_DOCUMENT) return edited;
      return {failed: `the document would be longer than ${LONGEST_DOCUMENT} characters`};
    },
  });
  if (!result) return notWritten('notes.md');
  if ('failed' in result) return refused('FAILED', result.failed);
  return {success: true, version: blobId(Buffer.from(result.text)), ...(result.merged && {merged: true})};
}

function appended(text: string, more: string): string {
  const end = more.endsWith('\n') ? more : `${more}\n`;
  return text.trim() === '' ? end : `${text.trimEnd()}\n\n${end}`;
}

function refused(code: ToolFailure['code'], error: string): ToolFailure {
  return {success: false, code, error};
}

function notWritten(file: string): ToolFailure {
  return refused('FAILED', `${file} of the workflow instance could not be written; see agentdir status`);
}
