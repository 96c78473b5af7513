import {agentMentions, type ChannelEntry, entryHead} from './channel.ts';
import type {ChannelCursor, Run} from './run.ts';

type Entry = Pick<ChannelEntry, 'time' | 'from' | 'text'>;

/** How many entries a reader has had. Entries that a person moved are found by their head. */
export function readBy(entries: readonly Entry[], cursor: ChannelCursor | undefined): number {
  if (!cursor) return 0;
  const {read, head} = cursor;
  const last = entries[read - 1];
  if (read === 0 || head === undefined || (last && entryHead(last) === head)) return Math.min(read, entries.length);
  const at = entries.findLastIndex(entry => entryHead(entry) === head);
  return at === -1 ? Math.min(read, entries.length) : at + 1;
}

/** A cursor after the first `read` entries. */
export function cursorAt(entries: readonly Entry[], read: number): ChannelCursor {
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
  entries: readonly Entry[],
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
