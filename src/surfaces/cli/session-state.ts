import {exit} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import {archiveSession} from '../actions/sessions/archive-session.ts';
import {cancelTurn, pauseSession, resumeSession, type StatusChange} from '../actions/sessions/change-status.ts';
import {namedSession} from '../actions/sessions/named-session.ts';
import {colors, note, print, printJson} from '../terminal/output.ts';

const changes = {pause: pauseSession, resume: resumeSession, cancel: cancelTurn};
type Verb = keyof typeof changes;

export interface SessionChangeOptions {
  home: string;
  verb: Verb;
  sessions: readonly string[];
  json: boolean;
}

/** All names are resolved before the first session is changed. */
export async function changeSessionsCommand({home, verb, sessions, json}: SessionChangeOptions): Promise<number> {
  const files = sessions.map(name => namedSession(home, name));
  const done: StatusChange[] = [];
  for (const file of files) done.push(await changes[verb](home, file));
  if (json) {
    printJson(
      done.map(({id, agent, path, before, status, changed}) => ({session: id, agent, path, before, status, changed})),
    );
    return exit.done;
  }
  for (const one of done) print(changeWords(verb, one));
  if (verb === 'resume' && !daemonOf(nodeDisk(home))) note('no daemon is running: agentdir start');
  return exit.done;
}

const past: Record<Verb, string> = {pause: 'paused', resume: 'resumed', cancel: 'cancelled'};

/** One line about a change, for people. */
export function changeWords(verb: Verb, {id, status, changed}: StatusChange): string {
  const name = colors.bold(visibleLine(id));
  if (!changed) return verb === 'cancel' ? `${name} is not at work: it is ${status}` : `${name} is ${status} already`;
  const next =
    verb === 'pause'
      ? `; to continue: agentdir resume ${visibleLine(id)}`
      : verb === 'cancel'
        ? '; the next message wakes it'
        : '';
  return `${colors.green(past[verb])} ${name}${next}`;
}

export async function removeSessionsCommand(options: {
  home: string;
  sessions: readonly string[];
  force: boolean;
  json: boolean;
}): Promise<number> {
  const {home, sessions, force, json} = options;
  const files = sessions.map(name => namedSession(home, name));
  const done = [];
  for (const file of files) done.push(await archiveSession(home, file, force));
  if (json) printJson(done.map(({id, agent, path, from}) => ({session: id, agent, path, from})));
  else
    for (const {id, path} of done)
      print(`${colors.green('archived')} ${colors.bold(visibleLine(id))} ${colors.dim(path)}`);
  return exit.done;
}
