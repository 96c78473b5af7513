import {exit, UserError} from '../../formats/common/errors.ts';
import {jsonText, visibleLine} from '../../formats/common/visible.ts';
import {pathsEver} from '../../home/journal-walk.ts';
import {listSessions} from '../../home/session-files.ts';
import {type Difference, differenceKinds} from '../actions/replay/difference.ts';
import {type Replay, replay} from '../actions/replay/replay.ts';
import type {ReplayedSession} from '../actions/replay/replayed.ts';
import {sessionIdOf} from '../actions/replay/track.ts';
import {oneOf} from '../actions/talk/one-of.ts';
import {colors, plural, print, printWhole} from '../terminal/output.ts';
import {progressOn} from './progress.ts';

interface ReplayCommand {
  home: string;
  sessions: readonly string[];
  all: boolean;
  policy: 'then' | 'now';
  verbose: boolean;
  json: boolean;
}

export async function replayCommand({home, sessions, all, policy, verbose, json}: ReplayCommand): Promise<number> {
  if (all === sessions.length > 0) throw new UserError('expected sessions, or --all', exit.usage, 'see agentdir list');
  const ids = all ? undefined : await chosen(home, sessions);
  const result = await replay(home, {
    wants: id => !ids || ids.has(id),
    policy,
    progress: progressOn(process.stderr, json, 'commits'),
  });
  const missing = [...(ids ?? [])].filter(id => !result.sessions.some(({session}) => session === id));
  if (missing.length > 0)
    throw new UserError(
      `no version of ${missing.join(', ')} in the journal can be read: nothing to replay`,
      exit.failed,
      'does git ignore it? (git check-ignore -v) To commit pending changes: agentdir start --once',
    );
  if (json) printWhole(jsonText(toJson(result)));
  else report(result, verbose || ids !== undefined, verbose);
  if (result.sessions.some(({differences}) => differences.length > 0)) return exit.failed;
  return result.sessions.some(({unread}) => unread.length > 0) ? exit.badFile : exit.done;
}

/** Searches existing sessions first, then the journal. */
async function chosen(home: string, wanted: readonly string[]): Promise<ReadonlySet<string>> {
  const there = listSessions(home).map(({id}) => id);
  const isThere = (name: string) => there.some(id => id.includes(name.replace(/^@/, '')));
  const past = wanted.every(isThere) ? [] : (await pathsEver(home, 'sessions')).map(sessionIdOf);
  const hint = 'see agentdir list';
  return new Set(wanted.map(name => oneOf('session', name, isThere(name) ? there : [...new Set(past)], hint)));
}

function toJson({commits, shallow, sessions}: Replay): Record<string, unknown> {
  const difference = ({order: _, ...rest}: Difference) => ({
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, value ?? null])),
    hint: hintOf(rest as Difference),
  });
  return {
    commits,
    shallow,
    sessions: sessions.map(({differences, ...rest}) => ({
      ...rest,
      identical: differences.length === 0,
      differences: differences.map(difference),
    })),
  };
}

function hintOf({kind, commit, changed}: Difference): string {
  const seen = changed ? changed.commit : commit;
  const hint = differenceKinds[kind];
  return seen === undefined ? hint.replace('git show COMMIT', 'git diff') : hint.replace('COMMIT', short(seen));
}

function short(commit: string): string {
  return commit.slice(0, 7);
}

/** `each`: also list identical sessions. */
function report({commits, shallow, sessions}: Replay, each: boolean, verbose: boolean): void {
  for (const session of sessions)
    if (each || session.differences.length > 0 || session.unread.length > 0) printReplay(session, verbose);
  if (shallow) print(colors.dim('this is a shallow clone: older commits are not replayed (git fetch --unshallow)'));
  const different = sessions.filter(({differences}) => differences.length > 0).length;
  const looked = `${plural(sessions.length, 'session')}, ${plural(commits, 'commit')}`;
  if (different > 0) print(`${colors.red(`${different} different`)}: ${looked}`);
  else if (sessions.some(({unread}) => unread.length > 0))
    print(`${colors.yellow('no differences, but some versions could not be read')}: ${looked}`);
  else print(`${colors.green('identical')}: ${looked}`);
}

function printReplay(session: ReplayedSession, verbose: boolean): void {
  const {differences, notes, unread, passing, working, there} = session;
  const mark = differences.length > 0 ? colors.red('✗') : unread.length > 0 ? colors.yellow('!') : colors.green('✓');
  const counts = [
    plural(session.versions, 'version'),
    plural(session.answers, 'answer'),
    plural(session.results, 'result'),
  ].join(', ');
  print(`${mark} ${visibleLine(session.session)} ${colors.dim(counts)}`);
  const shown = verbose ? differences : differences.slice(0, 1);
  for (const difference of shown) tellDifference(difference);
  if (shown.length < differences.length)
    print(colors.dim(`  and ${plural(differences.length - shown.length, 'more difference')}: use -v to show all`));
  for (const {path, commit, why} of unread)
    print(
      `  ${colors.yellow('!')} ${visibleLine(path)} cannot be read${commit ? ` as of ${short(commit)}` : ''}: ${visibleLine(why)}`,
    );
  const more = [
    working && 'the session is still active: replayed up to now',
    !there && 'the file is gone: replayed from the last committed version',
    passing > 0 && `${plural(passing, 'earlier version')} had errors; their content was read from later versions`,
    ...(verbose ? notes : []),
    !verbose && notes.length > 0 && `${plural(notes.length, 'edit')} by people: use -v to show them`,
  ].filter(line => line !== false);
  for (const line of more) print(colors.dim(`  ${visibleLine(line)}`));
}

function tellDifference(difference: Difference): void {
  const {what, path, message, line, field, recorded, replayed, commit, changed, kind} = difference;
  const place = `${path}${line === undefined ? '' : `:${line}`}`;
  const where = [message !== undefined && `message ${message}`, field].filter(Boolean).join(', ');
  print(`  ${visibleLine(place)}: ${visibleLine(what)}${commit ? ` in ${short(commit)}` : ''}${who(changed)}`);
  print(`    ${colors.dim(`${where}:`)}`);
  print(`    ${colors.dim('recorded')} ${visibleLine(recorded)}`);
  print(`    ${colors.dim(kind === 'step' || kind === 'verdict' ? 'replayed' : 'now     ')} ${visibleLine(replayed)}`);
  print(`    ${colors.cyan('=')} ${hintOf(difference)}`);
}

function who(changed: Difference['changed']): string {
  if (!changed) return '';
  if (changed.commit === undefined) return '; the change is not committed';
  return `: changed by ${visibleLine(changed.author)} in ${short(changed.commit)}`;
}
