import {exit} from '../../formats/common/errors.ts';
import {makeVisible} from '../../formats/common/visible.ts';
import type {LiveEvent} from '../../home/live.ts';
import {followLive} from '../../home/live-read.ts';
import {outputs, type SessionOutput} from '../actions/decide/outputs.ts';
import {agentName} from '../actions/talk/find-agent.ts';
import {sessionFile} from '../actions/talk/find-session.ts';
import {colors, print, printJson, shortCall} from '../terminal/output.ts';
import {whenReaderGoes} from './reader.ts';
import {ago} from './short-text.ts';

export interface PeekOptions {
  home: string;
  to: string | undefined;
  session: string | undefined;
  follow: boolean;
  count: number | undefined;
  json: boolean;
}

const DEFAULT_COUNT = 3;

export async function peekCommand({home, to, session, follow, count, json}: PeekOptions): Promise<number> {
  const filter = {
    session: session === undefined ? undefined : sessionFile(home, session).id,
    agent: to === undefined ? undefined : agentName(home, to),
  };
  if (follow) {
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    whenReaderGoes(() => stop.abort());
    const show = json ? printJson : follower(filter.session !== undefined);
    await followLive(home, filter, show, stop.signal);
    return exit.done;
  }
  const found = outputs(home, filter, count ?? DEFAULT_COUNT);
  if (json) printJson(found);
  else if (found.length === 0) print('no messages yet. Start with: agentdir send "Is Redis up?"');
  else print(found.map(describe).join('\n\n'));
  return exit.done;
}

function describe({session, agent, running, at, text, calls, error, waits_for}: SessionOutput): string {
  const state = running ? colors.cyan('answering') : colors.dim(at === null ? '' : ago(at, Date.now()));
  const lines = [`${colors.bold(makeVisible(session))} ${colors.cyan(`@${makeVisible(agent)}`)} ${state}`.trimEnd()];
  if (text !== '') lines.push(makeVisible(text.trimEnd(), false));
  for (const {name, args} of calls) lines.push(colors.dim(`→ ${makeVisible(shortCall(name, args))}`));
  for (const id of waits_for)
    lines.push(colors.yellow(`waiting for your approval: agentdir approvals ${makeVisible(id)}`));
  if (error !== null) lines.push(colors.red(makeVisible(error)));
  return lines.join('\n');
}

/** Prints events; with several sessions, each part begins with its session. */
function follower(single: boolean): (event: LiveEvent) => void {
  let last: string | undefined;
  let open = false;
  const write = (text: string) => process.stdout.write(text);
  const endLine = () => {
    if (open) write('\n');
    open = false;
  };
  const turnTo = ({session, agent}: LiveEvent) => {
    if (last === session && open) return;
    endLine();
    if (!single) write(`${colors.cyan(makeVisible(`${agent}/${session}`))} ${colors.dim('│')} `);
    last = session;
    open = true;
  };
  const line = (event: LiveEvent, text: string) => {
    endLine();
    turnTo(event);
    write(text);
    endLine();
  };
  return event => {
    switch (event.event) {
      case 'begin':
        return;
      case 'text':
        turnTo(event);
        write(makeVisible(event.text, false));
        return;
      case 'call':
        return line(event, colors.dim(`→ ${makeVisible(shortCall(event.name, event.args))}`));
      case 'retry':
        return line(event, colors.yellow(`${makeVisible(event.why)}; asked again at ${event.next}`));
      case 'end':
        if (event.how === 'answered') endLine();
        else {
          const paint = event.how === 'failed' ? colors.red : colors.yellow;
          line(event, paint(`${event.how}${event.why ? `: ${makeVisible(event.why)}` : ''}`));
        }
    }
  };
}
