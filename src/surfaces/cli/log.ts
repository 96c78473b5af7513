import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import {nearest} from '../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {folders, kindOf, stemOf} from '../../formats/common/key.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {cursorPath} from '../../formats/cursor-file.ts';
import {parseSession} from '../../formats/session/session.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {parseTasks} from '../../formats/task/task-parse.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {headCommit, history, type JournalChange} from '../../home/history.ts';
import {MARKER} from '../../home/locate.ts';
import {listHome, readHomeFile} from '../../home/read.ts';
import {listSessions} from '../../home/session-files.ts';
import {withoutOldBudgets} from '../actions/talk/one-of.ts';
import {colors, print, printJson} from '../terminal/output.ts';
import {cutToWidth} from '../terminal/table.ts';
import {whenReaderGoes} from './reader.ts';

export interface LogOptions {
  home: string;
  /** An agent, session, task, approval or file: its name, or a unique part of it. */
  what: string | undefined;
  follow: boolean;
  count: number | undefined;
  /** Also commits that change no file of the home. */
  all: boolean;
  json: boolean;
}

/** For a session, include decisions about its calls. */
interface Wanted {
  name: string;
  asked: ReadonlySet<string>;
}

/** Paths of the home, so that git skips other commits. */
const OURS = [MARKER, 'allowlist.yaml', ...folders];

const DEFAULT_COUNT = 30;
const WHO = 14;
const POLL_MS = 250;

export async function logCommand({home, what, follow, count, all, json}: LogOptions): Promise<number> {
  const {name, near} = what === undefined ? {} : resolve(home, what);
  const wanted = name === undefined ? undefined : {name, asked: askedIn(home, name)};
  let unread = false;
  if (follow)
    whenReaderGoes(() => {
      unread = true;
    });
  const limit = count ?? (json ? Number.POSITIVE_INFINITY : DEFAULT_COUNT);
  const among = (range: readonly string[]) => history(home, range, all ? ['.'] : OURS);
  const isShown = (change: JournalChange) =>
    (all || isOurs(change)) && (wanted === undefined || concerns(change, wanted));
  let head = await headCommit(home);
  const {found, more} = head ? await newest(among([head]), isShown, limit) : {found: [], more: false};
  if (found.length === 0 && !follow) {
    if (wanted !== undefined)
      throw new UserError(
        `the journal has no change about ${wanted.name}`,
        exit.failed,
        near ? `did you mean ${near}?` : 'to see all changes: agentdir log',
      );
    if (!json) print(`the journal is empty${head && !all ? '; for all commits: agentdir log --all' : ''}`);
    return exit.done;
  }
  if (more && !json)
    print(colors.dim(`… earlier: agentdir log${what ? ` ${what}` : ''}${all ? ' --all' : ''} -n ${limit * 10}`));
  for (const change of found) show(change, json);
  while (follow) {
    await new Promise(done => setTimeout(done, POLL_MS));
    if (unread) break;
    const now = await headCommit(home);
    if (now === undefined || now === head) continue;
    const range = head === undefined ? [now] : [now, `^${head}`];
    head = now;
    for (const change of (await newest(among(range), isShown, Number.POSITIVE_INFINITY)).found) show(change, json);
  }
  return exit.done;
}

async function newest(
  changes: AsyncGenerator<JournalChange>,
  isShown: (change: JournalChange) => boolean,
  limit: number,
) {
  const found: JournalChange[] = [];
  for await (const change of changes) {
    if (!isShown(change)) continue;
    if (found.length === limit) return {found: found.reverse(), more: true};
    found.push(change);
  }
  return {found: found.reverse(), more: false};
}

/** Commits of the daemon, and others that change files of the home. */
function isOurs({trailers, paths}: JournalChange): boolean {
  return trailers.some(([key]) => key === 'Cause') || paths.some(path => kindOf(path) !== undefined);
}

function concerns({author, subject, trailers, paths}: JournalChange, {name, asked}: Wanted): boolean {
  const inbox = inboxNamed(name);
  return (
    author === name ||
    // An inbox has no commits: its lines are messages of sessions, and its cursor says how far it is read.
    paths.includes(cursorPath(inbox)) ||
    trailers.some(([key, value]) => key === 'Delivery' && value.startsWith(`${inbox}@`)) ||
    (subject.includes(`${inbox}#`) && trailers.some(([key, value]) => key === 'Cause' && value === 'delivery')) ||
    trailers.some(([key, value]) => key !== 'Cause' && value === name) ||
    paths.some(path => path === name || stemOf(path) === name) ||
    // Include decisions in the queue or on the page; other commits repeat them.
    (trailers.some(([key, value]) => key === 'Approval' && asked.has(value)) &&
      (paths.includes(APPROVALS_FILE) || trailers.some(([key, value]) => key === 'Cause' && value === 'edit')))
  );
}

/** An inbox by its path or its name without ending. */
function inboxNamed(name: string): string {
  return name.startsWith('inbox/') ? name : `inbox/${name}.jsonl`;
}

/** Approval ids of a session. */
function askedIn(home: string, name: string): ReadonlySet<string> {
  const path = listSessions(home).find(({id}) => id === name)?.path;
  const read = path === undefined ? undefined : readHomeFile(nodeDisk(home), path);
  const messages = read && 'text' in read ? parseSession(read.text).messages : [];
  return new Set(messages.flatMap(({tool_calls = []}) => tool_calls.flatMap(({approval}) => approval ?? [])));
}

/** Resolves a name; a removed thing needs its full name. */
function resolve(home: string, what: string): {name: string; near?: string | undefined} {
  const name = what.replace(/^@/, '');
  const {paths} = listHome(nodeDisk(home));
  const names = new Set(paths.flatMap(path => [path, stemOf(path)]));
  if (names.has(name)) return {name};
  for (const path of paths.filter(path => path.endsWith('.task.md'))) {
    const read = readHomeFile(nodeDisk(home), path);
    for (const task of read && 'text' in read ? parseTasks(read.text).tasks : []) {
      const id = fieldOf(task, 'id');
      if (id !== undefined) names.add(id);
    }
  }
  if (names.has(name)) return {name};
  const ids = [...names].filter(known => !known.includes('/'));
  const matches = withoutOldBudgets(name, ids).filter(known => known.includes(name));
  if (matches.length > 1)
    throw new UserError(`"${what}" is ambiguous: ${matches.slice(0, 8).join(', ')}`, exit.usage, 'use more of the id');
  const [only] = matches;
  return only === undefined ? {name, near: nearest(name, names)} : {name: only};
}

function show({commit, author, time, subject, trailers, paths}: JournalChange, json: boolean): void {
  if (json) {
    printJson({commit, author, time, subject, trailers: Object.fromEntries(grouped(trailers)), paths});
    return;
  }
  const recovered = trailers.some(([key, value]) => key === 'Cause' && value === 'recovered');
  const note = recovered ? colors.dim(' (found at startup)') : '';
  const when = localTime(time);
  const who = cutToWidth(visibleLine(author), WHO).padEnd(WHO);
  print(`${colors.dim(when)}  ${who} ${subjectLine(subject)}${note} ${colors.dim(commit.slice(0, 7))}`);
  // The subject names the changes of its own file already.
  const own = thingOf(subject);
  const steps = trailers.flatMap(([key, value]) => (key === 'Step' && thingOf(value) !== own ? [value] : []));
  for (const step of steps) print(`${' '.repeat(when.length + 2 + WHO)} + ${subjectLine(step)}`);
}

const SUBJECT = /^(\w+\([^)]*\)): (.*)$/;

function thingOf(subject: string): string | undefined {
  return SUBJECT.exec(subject)?.[1];
}

function subjectLine(subject: string): string {
  const [, thing, words] = SUBJECT.exec(subject) ?? [undefined, undefined, subject];
  const what = thing ? `${colors.bold(visibleLine(thing.replace('(', ' ').replace(/\)$/, '')))}: ` : '';
  return `${what}${visibleLine(words ?? '')}`;
}

function grouped(trailers: JournalChange['trailers']): Map<string, string | string[]> {
  const map = new Map<string, string | string[]>();
  for (const [key, value] of trailers) {
    const before = map.get(key);
    map.set(key, before === undefined ? value : [before, value].flat());
  }
  return map;
}

function localTime(iso: string): string {
  const date = new Date(iso);
  return `${date.toLocaleDateString('sv')} ${date.toTimeString().slice(0, 8)}`;
}
