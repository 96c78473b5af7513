import type {Facts} from '../check/facts.ts';
import type {HomeIndex} from '../check/home-index.ts';
import {namesIn} from '../check/names.ts';
import {pendingPath} from '../formats/approval/approval-path.ts';
import {blocks, wrongTasks} from '../formats/common/diagnostic.ts';
import {kindOf} from '../formats/common/key.ts';
import {sessionFileRows, taskFileRows} from './file-rows.ts';
import {type OtherRows, RowIndex, type TableChange} from './row-index.ts';
import {talkRows} from './session-rows.ts';

export interface HomeSource {
  /** Must be settled. */
  index: HomeIndex;
  /** Paths with a version id of their content. */
  files: () => Iterable<readonly [path: string, version: string]>;
  /** Undefined: the file is gone. */
  read: (path: string, version: string) => string | undefined | Promise<string | undefined>;
}

interface Found {
  kind: 'tasks' | 'session';
  path: string;
  version: string;
}

/** Maximum time between yields while reading many files. */
const PAUSE_MS = 10;

/** The rows of a home, derived from its files. Reads only changed files again. */
export class HomeRows {
  readonly #rows = new RowIndex();
  /** Rows are also made from the texts of sessions. */
  #withTalk = false;
  /** Versions of all files that define possible assignees. */
  #names = '';

  /** `withTalk`: also what stands in sessions. */
  async sync(source: HomeSource, withTalk = false): Promise<void> {
    const isNew = withTalk && !this.#withTalk;
    this.#withTalk ||= withTalk;
    const seen = new Set<string>();
    const names: string[] = [];
    const others: Found[] = [];
    for (const [path, version] of source.files()) {
      const kind = kindOf(path);
      if (kind === 'template' || kind === 'workflow' || kind === 'settings') names.push(path, version);
      if (kind !== 'tasks' && kind !== 'session') continue;
      if (this.#rows.versionOf(path) === version && !(isNew && kind === 'session')) seen.add(path);
      else others.push({kind, path, version});
    }
    let paused = performance.now();
    // Sorted by path, so that rows are in the expected order.
    for (const found of others.sort((a, b) => (a.path < b.path ? -1 : 1))) {
      if (await this.#take(found, source)) seen.add(found.path);
      if (performance.now() - paused < PAUSE_MS) continue;
      await new Promise(resolve => setImmediate(resolve));
      paused = performance.now();
    }
    for (const path of [...this.#rows.paths()]) if (!seen.has(path)) this.#rows.remove(path);
    const now = names.join('\n');
    if (now !== this.#names) this.#rows.touchAll();
    this.#names = now;
    this.#rows.settle(surroundings(source.index));
  }

  /** Changes since the last call. */
  takeChanges(): TableChange[] {
    return this.#rows.takeChanges();
  }

  /** All rows, in parts. */
  takeAll(): Iterable<TableChange[]> {
    return this.#rows.takeAll();
  }

  taskFiles(): string[] {
    return [...this.#rows.paths()].filter(path => path.startsWith('tasks/')).sort();
  }

  /** False: the file is gone. */
  async #take({kind, path, version}: Found, source: HomeSource): Promise<boolean> {
    if (kind === 'session') {
      const facts = source.index.facts(path);
      if (!facts) return false;
      const text = this.#withTalk ? await source.read(path, version) : undefined;
      const isSegment = facts.session?.segment === true;
      const before = isSegment ? earlierIn(source.index, path) : movedFrom(source.index, facts);
      const talk = text === undefined ? [] : talkRows({path, text, isSegment, before});
      this.#rows.set(path, version, [...sessionFileRows(path, facts), ...talk]);
      return true;
    }
    const text = await source.read(path, version);
    if (text !== undefined) this.#rows.set(path, version, taskFileRows(path, text));
    return text !== undefined;
  }
}

/** How many messages of a session were moved to other files. */
function movedFrom(index: HomeIndex, {session}: Facts): number {
  return (session?.segments ?? []).reduce((sum, path) => sum + (index.facts(path)?.counts.messages ?? 0), 0);
}

/** How many messages of its session come before those in a segment, `sessions/archive/ID.3.session.yaml`. */
function earlierIn(index: HomeIndex, path: string): number {
  const [, stem = '', number] = /^(.+\.)(\d+)\.session\.yaml$/.exec(path) ?? [];
  let sum = 0;
  for (let n = 1; n < Number(number); n++) sum += index.facts(`${stem}${n}.session.yaml`)?.counts.messages ?? 0;
  return sum;
}

function surroundings(index: HomeIndex): OtherRows {
  return {
    stateOf: id => index.definitionsOf(`task/${id}`)[0]?.state,
    names: namesIn(
      name => index.definitionsOf(name).length > 0,
      () => [],
    ),
    isBroken: path => blocks(index.problems(path)),
    wrongIn: path => wrongTasks(index.problems(path)),
    onPage: id => index.facts(pendingPath(id))?.page?.decision ?? undefined,
  };
}
