import {agentMentions, type ChannelEntry, entryHead} from '../formats/channel.ts';
import type {ChannelCursor, Run} from '../formats/run.ts';

/** How many entries a message carries, and how many characters of them. */
const MOST_ENTRIES = 50;
const MOST_TEXT = 200_000;

/** How many entries an agent has had. Entries that a person moved are found by their head. */
export function readBy(entries: readonly ChannelEntry[], cursor: ChannelCursor | undefined): number {
  if (!cursor) return 0;
  const {read, head} = cursor;
  const last = entries[read - 1];
  if (read === 0 || head === undefined || (last && entryHead(last) === head)) return Math.min(read, entries.length);
  const at = entries.findLastIndex(entry => entryHead(entry) === head);
  return at === -1 ? Math.min(read, entries.length) : at + 1;
}

/** A cursor after the first `read` entries. */
export function cursorAt(entries: readonly ChannelEntry[], read: number): ChannelCursor {
  const last = entries[read - 1];
  return last ? {read, head: entryHead(last)} : {read};
}

/** An entry that wakes an agent. */
export interface DueMention {
  agent: string;
  /** How many entries the agent has had. */
  after: number;
  /** The number of the entry, from 1. */
  n: number;
}

/** For each agent, the first entry that mentions it and that it has not had. */
export function dueMentions(
  run: Pick<Run, 'agents' | 'cursors' | 'instance'>,
  entries: readonly ChannelEntry[],
): DueMention[] {
  const agents = Object.keys(run.agents);
  const due: DueMention[] = [];
  const after = new Map(agents.map(agent => [agent, readBy(entries, run.cursors?.[agent])]));
  const open = new Set(agents.filter(agent => (after.get(agent) ?? 0) < entries.length));
  for (let i = Math.min(...after.values()); i < entries.length && open.size > 0; i++) {
    const entry = entries[i];
    if (!entry || i < 0) continue;
    for (const agent of agentMentions(entry.text, agents, run.instance).names) {
      const read = after.get(agent) ?? 0;
      // Nobody wakes itself.
      if (i < read || entry.from === agent || !open.delete(agent)) continue;
      due.push({agent, after: read, n: i + 1});
    }
  }
  return due;
}

/** The message for an agent that is mentioned: the entries that it has not had, up to the one that mentions it. */
export function mentionText(
  {name, instance}: Pick<Run, 'name' | 'instance'>,
  entries: readonly ChannelEntry[],
  {agent, after, n}: DueMention,
  hasTools: boolean,
): string {
  const unread = entries.slice(after, n).filter(({from}) => from !== agent);
  let shown = unread.slice(-MOST_ENTRIES);
  while (shown.length > 1 && shown.reduce((sum, {text}) => sum + text.length, 0) > MOST_TEXT) shown = shown.slice(1);
  const left = unread.length - shown.length;
  return [
    `[AGENTDIR CHANNEL] You, @${agent}, are mentioned in the channel of ${name} (instance ${instance}).`,
    ...(hasTools ? ['To answer there, use channel_send; @name in it wakes that agent.'] : []),
    ...(left > 0 ? [`${left} earlier entries are left out; channel_peek shows them.`] : []),
    '',
    ...shown.map(entry => `${entryHead(entry)}\n${entry.text}\n`),
  ]
    .join('\n')
    .trimEnd();
}

/**
 * How many messages between agents led to an entry, one after the other, itself included; 0 for entries by people and the system. Taken
 * from the channel alone, for entries whose cause is not in memory any more.
 */
export function hopsOf(run: Pick<Run, 'agents' | 'instance'>, entries: readonly ChannelEntry[], n: number): number {
  const agents = Object.keys(run.agents);
  const heard = new Map<string, number>();
  let hops = 0;
  for (const {from, text} of entries.slice(0, n)) {
    hops = agents.includes(from) ? (heard.get(from) ?? 0) + 1 : 0;
    for (const agent of agentMentions(text, agents, run.instance).names) heard.set(agent, hops);
  }
  return hops;
}
