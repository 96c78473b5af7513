import {agentMentions, appendEntry, type ChannelEntry, entryHead, parseChannel} from '../../../formats/channel.ts';
import {cursorAt, readBy} from '../../../formats/channel-cursor.ts';
import type {Problem} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {isId, isTime} from '../../../formats/common/values.ts';
import {channelPath, documentPath, isInMemory, type Run} from '../../../formats/run.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {editFile} from '../../../home/edit-file.ts';
import {readHomeFile} from '../../../home/read.ts';
import {changeInstance, readInstance} from '../instances/instances.ts';
import {fileError} from '../talk/file-error.ts';

/** An entry of a channel, with its number from 1. */
export interface ChannelRow extends Pick<ChannelEntry, 'time' | 'from' | 'text'> {
  n: number;
}

export interface ChannelView {
  instance: string;
  /** Its file; null if the context is kept in memory. */
  path: string | null;
  entries: ChannelRow[];
  problems: Problem[];
}

/** The channel of an instance, or its entries after a time or a number. */
export function readChannel(
  home: string,
  instance: string,
  {since, limit}: {since?: string | undefined; limit?: number | undefined} = {},
): ChannelView {
  const run = readInstance(home, instance);
  const {entries, problems} = parseChannel(contextText(home, run, channelPath(instance)));
  const rows = entries.map(({time, from, text}, i) => ({n: i + 1, time, from, text}));
  const after = since === undefined ? 0 : placeAfter(rows, since);
  const wanted = rows.slice(after);
  return {
    instance,
    path: isInMemory(run) ? null : channelPath(instance),
    entries: limit === undefined ? wanted : wanted.slice(-limit),
    problems,
  };
}

/** Entries that a person has not had yet, and mark them as read. */
export async function readUnread(home: string, instance: string, as: string): Promise<ChannelView> {
  const run = readInstance(home, instance);
  refuseAgent(run, as, 'channel_read');
  const {entries} = parseChannel(contextText(home, run, channelPath(instance)));
  const read = readBy(entries, run.cursors?.[as]);
  if (read < entries.length)
    await changeInstance(home, instance, ({cursors}) => ({
      cursors: {...cursors, [as]: cursorAt(entries, entries.length)},
    }));
  return readChannel(home, instance, {since: String(read)});
}

/** Nobody speaks or reads for an agent of the instance, or for the system. */
function refuseAgent({agents}: Run, name: string, tool: string): void {
  if (!isId(name)) throw new UserError(`not a name: ${JSON.stringify(name.slice(0, 80))}`, exit.usage);
  if (name === 'system' || Object.hasOwn(agents, name))
    throw new UserError(`${name} has ${tool} of its own`, exit.usage, 'name a person: --as NAME');
}

function placeAfter(rows: readonly ChannelRow[], since: string): number {
  if (/^\d{1,9}$/.test(since)) return Number(since);
  if (!isTime(since))
    throw new UserError(
      `expected a time or the number of an entry, got "${since}"`,
      exit.usage,
      'for example --since 7',
    );
  const first = rows.findIndex(({time}) => isTime(time) && Date.parse(time) > Date.parse(since));
  return first === -1 ? rows.length : first;
}

/** What became of an entry. */
export interface SentEntry extends ChannelRow {
  /** Agents that it wakes. */
  wakes: string[];
  /** Names after @ that are nobody's. */
  unknown: string[];
}

/** Append a person's entry to the channel of an instance. The daemon wakes whom it mentions. */
export async function sendToChannel(
  home: string,
  instance: string,
  {text, as = 'human'}: {text: string; as?: string | undefined},
): Promise<SentEntry> {
  const run = readInstance(home, instance);
  if (isInMemory(run))
    throw new UserError(`the context of ${instance} is kept in memory, so only its agents write there`, exit.usage);
  if (text.trim() === '') throw new UserError('there is nothing to send', exit.usage);
  refuseAgent(run, as, 'channel_send');
  const path = channelPath(instance);
  const entry = {time: new Date().toISOString(), from: as, text};
  const {names, unknown} = agentMentions(text, Object.keys(run.agents), instance);
  return editFile(home, path, () => {
    const read = readHomeFile(nodeDisk(home), path);
    if (read && !('text' in read)) throw fileError(path, [read.problem]);
    const after = appendEntry(read?.text ?? '', entry);
    const n = parseChannel(after).entries.findLastIndex(each => entryHead(each) === entryHead(entry)) + 1;
    return {expected: read?.bytes, text: after, saved: () => ({n, ...entry, wakes: names, unknown})};
  });
}

/** The document of an instance. */
export function readDocument(home: string, instance: string): {path: string | null; text: string} {
  const run = readInstance(home, instance);
  return {path: isInMemory(run) ? null : documentPath(instance), text: contextText(home, run, documentPath(instance))};
}

/** Add to the end of the document of an instance, as a person would in an editor. */
export async function appendToDocument(home: string, instance: string, more: string): Promise<{path: string}> {
  if (isInMemory(readInstance(home, instance)))
    throw new UserError(`the context of ${instance} is kept in memory, so only its agents write there`, exit.usage);
  const path = documentPath(instance);
  return editFile(home, path, () => {
    const read = readHomeFile(nodeDisk(home), path);
    if (read && !('text' in read)) throw fileError(path, [read.problem]);
    const before = read?.text.trimEnd() ?? '';
    return {
      expected: read?.bytes,
      text: `${before}${before === '' ? '' : '\n\n'}${more.trimEnd()}\n`,
      saved: () => ({path}),
    };
  });
}

/** The daemon mirrors contexts in memory below .agentdir/. */
function contextText(home: string, run: Run, path: string): string {
  const place = isInMemory(run) ? `.agentdir/contexts/${path.slice('.workflow/'.length)}` : path;
  const read = readHomeFile(nodeDisk(home), place);
  if (read && !('text' in read)) throw fileError(path, [read.problem]);
  return read?.text ?? '';
}
