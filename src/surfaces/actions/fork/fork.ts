import {exit, UserError} from '../../../formats/common/errors.ts';
import type {Message} from '../../../formats/session/session-schema.ts';
import {type ForkResult, forkSession} from '../../../formats/undo/fork-session.ts';
import {git} from '../../../home/git/git.ts';
import {commitsNamed} from '../../../home/one-change.ts';
import type {SessionFile} from '../../../home/session-files.ts';
import {newPlace, saveNew} from '../talk/make-session.ts';
import {oneOf} from '../talk/one-of.ts';
import {type Source, sourceOf} from './source.ts';

export interface ForkOptions {
  home: string;
  /** Any unique part of the id; may be a removed session. */
  session: string;
  /** A commit, a message (its number, or the id of its call or delivery), or both: COMMIT:MESSAGE. */
  at: string | undefined;
  paused: boolean;
}

export interface ForkMade extends SessionFile, Omit<ForkResult, 'text'> {
  from: Source;
  /** The number of copied messages. */
  count: number;
}

/** Creates a new session from another, which is not changed. */
export async function fork({home, session, at, paused}: ForkOptions): Promise<ForkMade> {
  const {commit, message} = await placeOf(home, at);
  const from = await sourceOf(home, session, commit);
  const count = message === undefined ? from.messages.length : countTo(from, message);
  // Reference a segment if all of it is copied and it is unchanged.
  const whole = from.segments.findIndex(({end, shared}) => !shared || end > count);
  const segments = from.segments.slice(0, whole === -1 ? undefined : whole);
  const first = segments.at(-1)?.end ?? 0;
  const now = new Date().toISOString();
  const place = newPlace(from.header.agent_id);
  const {text, awaits, open} = forkSession({
    header: from.header,
    messages: from.messages.slice(first, count),
    segments: segments.map(({path}) => path),
    id: place.id,
    from: {session: from.id, ...(from.commit !== undefined && {commit: from.commit}), message: count},
    ...{paused, now, schema: '../../schemas/session.json'},
  });
  await saveNew(home, place.path, text);
  return {...place, from, count, awaits, open};
}

/** Parses `--at`: a number is a message, the start of a commit id a commit. */
async function placeOf(
  home: string,
  at: string | undefined,
): Promise<{commit: string | undefined; message: string | undefined}> {
  if (at === undefined) return {commit: undefined, message: undefined};
  const [, revision = '', message] = /^([0-9a-f]{4,64}\^?)(?::(.+))?$/.exec(at) ?? [];
  const isNumber = /^#?\d{1,6}$/.test(at);
  const [id = '', parent] = revision.split(/(?=\^)/);
  const commits = revision === '' || isNumber ? [] : await commitsNamed(home, id);
  const [commit] = commits;
  if (commit === undefined && message === undefined) return {commit: undefined, message: at};
  if (commit === undefined || commits.length > 1)
    throw new UserError(
      commit === undefined ? `no commit of the journal begins with ${id}` : `several commits begin with ${id}`,
      exit.usage,
      'agentdir log SESSION shows them',
    );
  if (parent === undefined) return {commit, message};
  const before = await git(home, ['rev-parse', '--verify', '--quiet', `${commit}^`]);
  if (before.code !== 0) throw new UserError(`${id} is the first commit`, exit.usage);
  return {commit: before.stdout.trim(), message};
}

/** The index after the wanted message. */
function countTo({id, messages}: Source, wanted: string): number {
  const number = /^#?(\d{1,6})$/.exec(wanted)?.[1];
  if (number !== undefined) {
    const count = Number(number);
    if (count >= 1 && count <= messages.length) return count;
    throw new UserError(
      `${id} has no message ${count}: it has ${messages.length}`,
      exit.usage,
      `see them with their numbers: agentdir show ${id}`,
    );
  }
  const known = new Map<string, number>();
  for (const [i, message] of messages.entries())
    for (const name of namesOf(message)) if (!known.has(name)) known.set(name, i + 1);
  const name = oneOf(
    'commit or message',
    wanted,
    [...known.keys()],
    `see them with their numbers: agentdir show ${id}`,
  );
  return known.get(name) ?? messages.length;
}

/** The id of a call means the answer with the call, which comes first. */
function namesOf({delivery, tool_calls = [], tool_call_id}: Message): string[] {
  return [delivery, ...tool_calls.map(({id}) => id), tool_call_id].filter(name => name !== undefined);
}
