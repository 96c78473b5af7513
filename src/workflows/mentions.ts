import {sharedSession} from '../agents/mail/receivers.ts';
import type {With} from '../agents/state/parts.ts';
import {hopsOf, mentionText} from '../decide/workflow.ts';
import {type ChannelEntry, entryHead} from '../formats/channel.ts';
import {cursorAt, type DueMention} from '../formats/channel-cursor.ts';
import {channelPath, type Run} from '../formats/run.ts';
import type {Message} from '../formats/session/session-schema.ts';
import {lookAgain} from '../loop/look-again.ts';
import {changeRun} from './changes.ts';

/** Wake an agent that an entry mentions. The id follows from the entry, so that the message is delivered once; then the agent's cursor moves. */
export async function postMention(
  daemon: With<'files' | 'mail' | 'workflows'>,
  run: Run,
  entries: readonly ChannelEntry[],
  mention: DueMention,
): Promise<void> {
  const {files, mail} = daemon;
  const {instance, context} = run;
  const agent = `${mention.agent}@${instance}`;
  const id = mentionId(run, mention);
  const {path, opening} = sharedSession(files, agent);
  if (mail.get(path, id)) return;
  const taint = run.tainted ?? [];
  mail.post(path, {
    id,
    agent,
    opening,
    message: {
      from: `channel/${instance}`,
      content: mentionText(run, entries, mention, context.channel === true),
      ...chainOfEntry(daemon, run, entries, mention.n),
      ...(taint.length > 0 && {taint: [...taint]}),
    },
    delivered: () =>
      void changeRun(daemon, instance, `mention delivered to @${mention.agent}`, now => {
        const read = now.cursors?.[mention.agent]?.read ?? 0;
        if (read >= mention.n) return now;
        return {...now, cursors: {...now.cursors, [mention.agent]: cursorAt(entries, mention.n)}};
      }),
  });
  lookAgain(files, path);
}

/** Names the run, because an instance of the same name may have existed before. */
function mentionId({instance, started}: Run, {agent, n}: DueMention): string {
  return `channel/${instance}/${started.replace(/\D/g, '')}#${n}@${agent}`;
}

/** The cause of a message about an entry; none if a person or the system wrote the entry. */
function chainOfEntry(
  {workflows}: With<'workflows'>,
  run: Run,
  entries: readonly ChannelEntry[],
  n: number,
): Partial<Message> {
  const entry = entries[n - 1];
  const hops = hopsOf(run, entries, n);
  if (!entry || hops === 0) return {};
  const chain = workflows.chains.get(`${channelPath(run.instance)} ${entryHead(entry)}`);
  return {...(chain ?? {chain: `channel/${run.instance}`, hops})};
}
