import {exit, UserError} from '../../../formats/common/errors.ts';
import {kindOf, stemOf} from '../../../formats/common/key.ts';
import {visibleLine} from '../../../formats/common/visible.ts';
import {headCommit, history, type JournalChange} from '../../../home/history.ts';
import {commitsNamed, readChange} from '../../../home/one-change.ts';

/** The wanted change, and the name it was found by, if not by commit id. */
export interface FoundChange {
  commit: string;
  about: string | undefined;
}

/** Trailers whose values are ids. */
const KNOWN = new Set(['Session', 'Task', 'Call', 'Approval', 'Delivery']);
const LISTED = 8;

/**
 * Finds a change by the start of its commit id, or the last change of a session, task, call, approval, delivery or
 * file.
 */
export async function findChange(home: string, wanted: string): Promise<FoundChange> {
  if (!(await headCommit(home))) throw new UserError('the journal is empty', exit.failed);
  const name = wanted.replace(/^@/, '').trim();
  const commits = /^[0-9a-f]{4,64}$/.test(name) ? await commitsNamed(home, name) : [];
  const about = name === '' ? [] : await namedSo(home, name);
  const [commit] = commits;
  const [one] = about;
  if (commit !== undefined && commits.length === 1 && about.length === 0) return {commit, about: undefined};
  if (one && about.length === 1 && commits.length === 0) return {commit: one.change.commit, about: one.name};
  if (commits.length + about.length > 0) {
    const own = await Promise.all(commits.map(id => readChange(home, id)));
    const lines = [
      ...own.map(change => lineOf(change)),
      ...about.map(({name, change}) => `${lineOf(change)}: the last about ${visibleLine(name)}`),
    ];
    const more = lines.length > LISTED ? `; and ${lines.length - LISTED} more` : '';
    throw new UserError(
      `"${wanted}" is ambiguous: ${lines.slice(0, LISTED).join('; ')}${more}`,
      exit.usage,
      'name the commit: agentdir undo COMMIT',
    );
  }
  throw new UserError(`the journal has no change "${wanted}"`, exit.usage, 'see agentdir log');
}

/** Things with exactly this name, else with this part of a name; each with its last change. */
async function namedSo(home: string, wanted: string): Promise<{name: string; change: JournalChange}[]> {
  const found = new Map<string, JournalChange>();
  /** A task and a session may share a name. */
  const exact = new Map<string, JournalChange>();
  for await (const change of history(home)) {
    for (const [name, what] of namesOf(change)) {
      if (name === wanted && !exact.has(what)) exact.set(what, change);
      else if (name.includes(wanted) && !found.has(name)) found.set(name, change);
    }
  }
  const commits = new Set([...exact.values()].map(({commit}) => commit));
  if (commits.size === 1) return [...exact.values()].slice(0, 1).map(change => ({name: wanted, change}));
  if (commits.size > 1) return [...exact].map(([what, change]) => ({name: `the ${what} ${wanted}`, change}));
  const all = [...found].map(([name, change]) => ({name, change}));
  // The file of a session and the delivery of a task are aliases.
  const plain = all.filter(({name}) => !name.includes('/'));
  return plain.length > 0 ? plain : all;
}

/** Names of the things that a change is about, with their kinds. */
function namesOf({trailers, paths}: JournalChange): [name: string, what: string][] {
  return [
    ...trailers.flatMap(([key, value]): [string, string][] => (KNOWN.has(key) ? [[value, key.toLowerCase()]] : [])),
    ...paths.map((path): [string, string] => [stemOf(path), whatOf(path)]),
    ...paths.flatMap((path): [string, string][] => (path.includes('/') ? [[path, 'file']] : [])),
  ];
}

function whatOf(path: string): string {
  const kind = kindOf(path);
  return kind === 'session' || kind === 'approval' ? kind : 'file';
}

/** The last changes of a thing, as alternatives. */
export async function changesAbout(home: string, name: string, most: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const change of history(home)) {
    if (!namesOf(change).some(([own]) => own === name)) continue;
    lines.push(lineOf(change));
    if (lines.length === most) break;
  }
  return lines;
}

function lineOf({commit, author, subject}: Pick<JournalChange, 'commit' | 'author' | 'subject'>): string {
  return visibleLine(`${commit.slice(0, 7)} ${subject} (${author})`);
}
