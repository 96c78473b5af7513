import {existsSync, readdirSync} from 'node:fs';
import {gitDirOf, gitDirs} from '../../effects/workspace/git-dir.ts';
import {
  countChanges,
  diffText,
  EMPTY_TREE,
  filesBetween,
  isOfAgent,
  readChanges,
  undoneOf,
  type WorkspaceCommit,
} from '../../effects/workspace/read-history.ts';
import {uncommitted} from '../../effects/workspace/uncommitted.ts';
import {undoCommit} from '../../effects/workspace/undo.ts';
import {nearest} from '../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import {oneOf} from '../actions/talk/one-of.ts';
import {colors, note, plural, print, printJson, printWhole, screenWidth} from '../terminal/output.ts';
import {fitTable} from '../terminal/table.ts';
import {ago, localTime} from './short-text.ts';

interface Asked {
  home: string;
  agent: string;
  json: boolean;
}

const DEFAULT_COUNT = 30;

export async function workspaceListCommand({
  home,
  agent,
  json,
}: Omit<Asked, 'agent'> & {agent: string | undefined}): Promise<number> {
  const names = agent === undefined ? workspaces(home) : [workspaceOf(home, agent)];
  const rows = await Promise.all(
    names.map(async name => {
      const [changes, open] = await Promise.all([readChanges(gitDirOf(home, name)), uncommitted({home, agent: name})]);
      const last = changes.find(change => isOfAgent(change, name));
      return {agent: name, branch: open.branch ?? null, commits: changes.length, uncommitted: open.files, last};
    }),
  );
  if (json) printJson(rows.map(({last, ...row}) => ({...row, last: last ? shown(last) : null})));
  else if (rows.length === 0) print('no agent has changed a file yet');
  else
    printWhole(
      fitTable(
        ['agent', 'branch', 'commits', 'not committed', 'last call'],
        rows.map(({agent, branch, commits, uncommitted, last}) => [
          agent,
          branch ?? '(no branch)',
          String(commits),
          uncommitted === 0 ? '' : plural(uncommitted, 'file'),
          last ? `${visibleLine(last.subject)}, ${ago(last.time, Date.now())}` : '',
        ]),
        screenWidth(),
      ),
    );
  return exit.done;
}

export async function workspaceDiffCommand({
  home,
  agent: wanted,
  call,
  json,
}: Asked & {call: string | undefined}): Promise<number> {
  const agent = workspaceOf(home, wanted);
  const gitDir = gitDirOf(home, agent);
  const open = call === undefined ? await uncommitted({home, agent}) : undefined;
  const ofCall = async () => {
    const changes = await readChanges(gitDir);
    const change = call === undefined ? changes.find(one => isOfAgent(one, agent)) : find(changes, agent, call);
    return change && {from: change.parent ?? EMPTY_TREE, to: change.commit, change};
  };
  const pair = open && open.files > 0 ? {...open, change: undefined} : await ofCall();
  const text = pair ? await diffText(gitDir, pair.from, pair.to) : '';
  if (json) {
    const files = pair ? await filesBetween(gitDir, pair.from, pair.to) : [];
    const paths = files.map(({name}) => Buffer.from(name, 'latin1').toString());
    printJson({agent, change: pair?.change ? shown(pair.change) : null, paths, diff: text});
  } else {
    note(pair?.change ? lineOf(pair.change, plain) : pair ? 'not committed yet:' : 'no changes yet');
    if (text !== '') printWhole(painted(makeVisible(text.trimEnd(), false)));
  }
  return exit.done;
}

export async function workspaceLogCommand({
  home,
  agent,
  count,
  json,
}: Asked & {count: number | undefined}): Promise<number> {
  const limit = count ?? (json ? Number.POSITIVE_INFINITY : DEFAULT_COUNT);
  const gitDir = gitDirOf(home, workspaceOf(home, agent));
  const changes = await readChanges(gitDir, limit);
  // An undo is newer than its commit, so it was read too.
  const undone = undoneOf(changes);
  for (const change of changes) {
    if (json) printJson({...shown(change), undone: undone.has(change.commit)});
    else print(`${lineOf(change)}${undone.has(change.commit) ? colors.yellow(' (undone)') : ''}`);
  }
  if (!json && changes.length === 0) print('no changes yet');
  const before = json || changes.length < limit ? 0 : (await countChanges(gitDir)) - changes.length;
  if (before > 0) print(colors.dim(`… and ${before} before: -n ${limit * 10}`));
  return exit.done;
}

export async function workspaceUndoCommand({
  home,
  agent: wanted,
  call,
  json,
}: Asked & {call: string | undefined}): Promise<number> {
  const agent = workspaceOf(home, wanted);
  const earlier = (one: WorkspaceCommit | undefined) =>
    one && `to undo the one before it: agentdir workspace undo ${agent} ${one.commit.slice(0, 7)}`;
  let before: WorkspaceCommit | undefined;
  const done = await undoCommit({home, agent}, (changes, {empty, running}) => {
    const undone = undoneOf(changes);
    const [last, second] = changes.filter(one => isOfAgent(one, agent) && !undone.has(one.commit));
    const change = call === undefined ? last : find(changes, agent, call, undone);
    before = call === undefined ? second : undefined;
    // Its files would change while it runs.
    const runs = running.find(one =>
      call === undefined ? true : change?.calls.some(each => each.session === one.session && each.call === one.call),
    );
    if (runs)
      throw new UserError(
        `${visibleLine(runs.words)} of ${agent} is still running`,
        exit.failed,
        'wait until it has ended, or name a call that has: agentdir workspace log AGENT',
      );
    if (call === undefined && empty !== undefined)
      throw new UserError(
        `the last call of ${agent}, ${visibleLine(empty)}, changed nothing that can be undone`,
        exit.failed,
        earlier(change),
      );
    if (!change) throw new UserError(`no call of ${agent} is left to undo`, exit.failed);
    if (change.merge) throw new UserError(`${change.commit.slice(0, 7)} is a merge and cannot be undone`, exit.failed);
    if (undone.has(change.commit)) throw new UserError(`${visibleLine(change.subject)} is already undone`, exit.failed);
    if (change.calls.length > 1 && !(call && change.commit.startsWith(call)))
      throw new UserError(
        `one commit holds several calls, which can only be undone together: ${idsOf(change).join(', ')}`,
        exit.failed,
        `to undo all of them: agentdir workspace undo ${agent} ${change.commit.slice(0, 7)}`,
      );
    return change;
  });
  if ('failed' in done) throw new UserError(`nothing was undone: ${done.failed.join('; ')}`, exit.failed);
  for (const text of done.notes) note(text);
  if ('conflicts' in done) {
    if (json) {
      printJson({agent, undone: shown(done.undone), commit: null, conflicts: done.conflicts});
      return exit.failed;
    }
    const lines = done.conflicts.map(({path, why}) => `${path} ${why}`);
    throw new UserError(
      `"${visibleLine(done.undone.subject)}" was not undone: ${lines.join('; ')}`,
      exit.failed,
      'undo the later calls first, or edit the files',
    );
  }
  const files = 'files' in done ? done.files : [];
  const commit = 'commit' in done ? done.commit : null;
  if (json) printJson({agent, undone: shown(done.undone), commit, files});
  else if (commit === null) {
    print(`the files are already as before: ${visibleLine(done.undone.subject)}`);
    if (before) note(earlier(before) ?? '');
  } else print(`${colors.green('undone')}: ${visibleLine(done.undone.subject)} (${files.join(', ')}) ${short(commit)}`);
  return exit.done;
}

function workspaces(home: string): string[] {
  if (!existsSync(gitDirs(home))) return [];
  return readdirSync(gitDirs(home))
    .flatMap(name => (name.endsWith('.git') ? [name.slice(0, -'.git'.length)] : []))
    .sort();
}

function workspaceOf(home: string, wanted: string): string {
  // `agentdir workspace dif` is a list, too.
  const near = nearest(wanted, ['list', 'diff', 'log', 'undo']);
  const hint = 'agents get a workspace when they first use files: agentdir workspace';
  return oneOf('workspace', wanted, workspaces(home), near ? `did you mean agentdir workspace ${near}?` : hint);
}

/** Finds a commit by its id or a unique part of a call id; the newest of several. */
function find(
  all: readonly WorkspaceCommit[],
  agent: string,
  wanted: string,
  undone = new Set<string>(),
): WorkspaceCommit | undefined {
  const commits = all.filter(({commit}) => wanted.length >= 4 && commit.startsWith(wanted));
  const [only] = commits;
  if (only && commits.length === 1) return only;
  const changes = all.filter(change => isOfAgent(change, agent));
  const ids = [...new Set(changes.flatMap(({calls}) => calls.map(({call}) => call)))];
  const id = oneOf('call', wanted, ids, 'see agentdir workspace log AGENT');
  const found = changes.filter(({calls}) => calls.some(({call}) => call === id));
  // Call ids are unique only within a session.
  const sessions = new Map(
    found.flatMap(({commit, calls}) => calls.flatMap(({session, call}) => (call === id ? [[session, commit]] : []))),
  );
  if (sessions.size > 1)
    throw new UserError(
      `${visibleLine(id)} is a call of several sessions: ${[...sessions].map(([session, commit]) => `${commit.slice(0, 7)} of ${visibleLine(session)}`).join(', ')}`,
      exit.usage,
      'name the commit: see agentdir workspace log AGENT',
    );
  return found.find(({commit}) => !undone.has(commit)) ?? found[0];
}

function shown({merge: _, parent: __, ...change}: WorkspaceCommit): Record<string, unknown> {
  return Object.fromEntries(Object.entries(change).map(([key, value]) => [key, value ?? null]));
}

/** No colours: a note is coloured as a whole. */
const plain: Pick<typeof colors, 'dim' | 'cyan'> = {dim: String, cyan: String};

function lineOf(change: WorkspaceCommit, {dim, cyan} = colors as typeof plain): string {
  const {time, author, subject, commit} = change;
  const ids = idsOf(change).map(id => ` ${cyan(id)}`);
  return `${dim(localTime(time))}  ${visibleLine(author).padEnd(14)} ${visibleLine(subject)}${ids.join('')} ${dim(commit.slice(0, 7))}`;
}

function idsOf({calls}: WorkspaceCommit): string[] {
  return calls.map(({call}) => visibleLine(call));
}

function short(commit: string): string {
  return colors.dim(commit.slice(0, 7));
}

function painted(text: string): string {
  const paint = (line: string) => {
    if (/^(?:diff |index |--- |\+\+\+ |new file|deleted file|old mode|new mode)/.test(line)) return colors.bold(line);
    if (line.startsWith('@@')) return colors.cyan(line);
    return line.startsWith('+') ? colors.green(line) : line.startsWith('-') ? colors.red(line) : line;
  };
  return text.split('\n').map(paint).join('\n');
}
