import {agentMentions, type ChannelEntry, entryHead, escapedText} from '../formats/channel.ts';
import type {DueMention} from '../formats/channel-cursor.ts';
import type {Run} from '../formats/run.ts';

/** How many entries a message carries, and how many characters of them. */
const MOST_ENTRIES = 50;
const MOST_TEXT = 200_000;

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
    ...shown.map(entry => `${entryHead(entry)}\n${escapedText(entry.text)}\n`),
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
