import {createHash} from 'node:crypto';
import {isJournalled, kindOf} from '../../src/formats/common/key.ts';
import {parseSession} from '../../src/formats/session/session.ts';
import type {Disk} from '../../src/home/disk/disk.ts';
import type {CommittedEntry, JournalEntry} from '../../src/home/entry.ts';
import {blobId} from '../../src/home/git/blob-id.ts';
import type {RecentCommit} from '../../src/home/git/git-committed-over.ts';
import {type CommittedVersion, isEdit, type Version} from '../../src/home/git/git-history.ts';
import type {HomeGit, HomeJournal} from '../../src/home/home-git.ts';
import type {SimulatedProcess} from './process.ts';
import type {SeededRandom} from './random.ts';
import type {SimulatedTime} from './time.ts';

export const PERSON = {name: 'Pat', email: 'pat@example.org'};

export interface Leaf {
  blob: string;
  mode: string;
}

export interface Commit {
  id: string;
  parent: string | undefined;
  tree: ReadonlyMap<string, Leaf>;
  author: {name: string; email: string};
  subject: string;
  trailers: readonly (readonly [string, string])[];
  at: number;
  /** By a git command of the person's: a plain `git commit`, or one that moved HEAD to another text. */
  byHand?: 'commit' | 'move';
}

export interface GitFaults {
  /** Until then nothing can be published, as if another process held the index. */
  blockedUntil: number;
  /** A rebase of the person's that is not finished. */
  unfinished: string | undefined;
}

interface Queued {
  entry: JournalEntry;
  since: number;
  resolve: (done: CommittedEntry & {already?: true}) => void;
  reject: (error: Error) => void;
}

/** A repository in memory: what the loop sees of git, and a person's git commands. It survives every crash. */
export class SimulatedGit {
  readonly faults: GitFaults = {blockedUntil: 0, unfinished: undefined};
  readonly blobs = new Map<string, Buffer>();
  /** Content that daemons wrote. */
  readonly daemonBlobs = new Set<string>();
  readonly commits = new Map<string, Commit>();
  /** Blobs that `git checkout COMMIT -- PATH` staged and nobody has committed over since. Elsewhere the index is as HEAD. */
  readonly staged = new Map<string, string>();
  head: string | undefined;
  /** When the person last moved HEAD by `git reset` or `git revert`. */
  movedAt = 0;
  readonly #random: SeededRandom;
  readonly #time: SimulatedTime;
  readonly #person: Disk;
  #count = 0;

  constructor(random: SeededRandom, time: SimulatedTime, person: Disk) {
    this.#random = random;
    this.#time = time;
    this.#person = person;
  }

  tree(commit = this.head): ReadonlyMap<string, Leaf> {
    return (commit && this.commits.get(commit)?.tree) || new Map();
  }

  /** Newest first. */
  *history(from = this.head): Generator<Commit> {
    for (let at = from && this.commits.get(from); at; at = at.parent ? this.commits.get(at.parent) : undefined)
      yield at;
  }

  put(bytes: Buffer): string {
    const id = blobId(bytes);
    if (!this.blobs.has(id)) this.blobs.set(id, Buffer.from(bytes));
    return id;
  }

  commit(tree: ReadonlyMap<string, Leaf>, of: Pick<Commit, 'author' | 'subject' | 'trailers' | 'byHand'>): Commit {
    const id = createHash('sha1')
      .update(`${++this.#count}`)
      .digest('hex');
    const commit: Commit = {...of, id, parent: this.head, tree, at: this.#time.now};
    this.commits.set(id, commit);
    for (const path of this.staged.keys())
      if (of.byHand || this.tree().get(path)?.blob !== tree.get(path)?.blob) this.staged.delete(path);
    this.head = id;
    return commit;
  }

  /** What files of the home hold that git would commit. */
  #worktree(): Map<string, Leaf> {
    const tree = new Map<string, Leaf>();
    const walk = (folder: string) => {
      for (const entry of this.#person.list(folder)) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.name.startsWith('.')) continue;
        const kind = kindOf(path);
        if (entry.isDirectory()) walk(path);
        else if (kind && isJournalled(kind)) tree.set(path, {blob: this.put(this.#person.read(path)), mode: '100644'});
      }
    };
    walk('');
    return tree;
  }

  /** `git commit -am`; with `all`, also what is not tracked yet. */
  commitAll(subject: string, all = false): boolean {
    if (this.faults.unfinished) return false;
    const found = this.#worktree();
    const tree = new Map(this.tree());
    for (const path of tree.keys()) if (!found.has(path)) tree.delete(path);
    for (const [path, leaf] of found) if (all || tree.has(path)) tree.set(path, leaf);
    if (isSameTree(tree, this.tree())) return false;
    this.commit(tree, {author: PERSON, subject, trailers: [], byHand: 'commit'});
    return true;
  }

  /** `git checkout COMMIT -- PATH`: the file as it was, staged. */
  checkout(commit: string, path: string): void {
    const leaf = this.tree(commit).get(path);
    if (!leaf) return;
    this.staged.set(path, leaf.blob);
    this.#writeOut(path, leaf.blob);
  }

  /** `git revert` of the last commit, or `git reset --hard` to a commit: HEAD moves, and the files with it. */
  moveTo(tree: ReadonlyMap<string, Leaf>, head: string | 'revert'): void {
    this.movedAt = this.#time.now;
    this.staged.clear();
    const before = this.tree();
    for (const [path, {blob}] of tree) if (before.get(path)?.blob !== blob) this.#writeOut(path, blob);
    for (const path of before.keys()) if (!tree.has(path)) this.#person.remove(path);
    if (head === 'revert') this.commit(tree, {author: PERSON, subject: 'Revert', trailers: [], byHand: 'move'});
    else this.head = head;
  }

  /** As git does: another file takes the place of the old one. */
  #writeOut(path: string, blob: string): void {
    const bytes = this.blobs.get(blob);
    if (!bytes) return;
    this.#person.remove(path);
    if (path.includes('/')) this.#person.makeDirectory(path.slice(0, path.lastIndexOf('/')));
    this.#person.write(path, bytes);
  }

  /** Whether files of the home are not as HEAD has them, and which. */
  dirty(): string[] {
    const [now, head] = [this.#worktree(), this.tree()];
    return [...new Set([...now.keys(), ...head.keys()])].filter(path => now.get(path)?.blob !== head.get(path)?.blob);
  }

  openFor(process: SimulatedProcess): HomeGit {
    return {
      openJournal: async earlier => {
        await earlier;
        return new SimulatedJournal(this, process, this.#time, this.#random, this.#person);
      },
      excludeDerived: async () => {},
      versionsWithStarts: async path => {
        const texts = new Set<string>();
        for (const {tree} of this.commits.values()) {
          const blob = tree.get(path)?.blob;
          const text = blob && this.blobs.get(blob)?.toString();
          if (text?.includes('started: ')) texts.add(text);
        }
        return [...texts].map(text => parseSession(text));
      },
    };
  }
}

function isSameTree(a: ReadonlyMap<string, Leaf>, b: ReadonlyMap<string, Leaf>): boolean {
  return a.size === b.size && [...a].every(([path, {blob}]) => b.get(path)?.blob === blob);
}

const FIRST_PUBLISH_MS = 12;
const GAP_MS = 200;

class SimulatedJournal implements HomeJournal {
  readonly #git: SimulatedGit;
  readonly #process: SimulatedProcess;
  readonly #time: SimulatedTime;
  readonly #random: SeededRandom;
  readonly #person: Disk;
  readonly #files = new Map<string, string>();
  readonly #foreign = new Set<string>();
  readonly #foreignAt = new Map<string, number>();
  readonly #left = new Map<string, string>();
  readonly #queue: Queued[] = [];
  readonly executable: ReadonlySet<string> = new Set();
  #head: string | undefined;
  #isClosed = false;
  #isPlanned = false;
  #waiters: (() => void)[] = [];
  waiting: string | undefined;
  onWaiting: (why: string | undefined) => void = () => {};
  expecting: () => boolean = () => false;

  constructor(git: SimulatedGit, process: SimulatedProcess, time: SimulatedTime, random: SeededRandom, person: Disk) {
    this.#git = git;
    this.#process = process;
    this.#time = time;
    this.#random = random;
    this.#person = person;
    this.#head = git.head;
    for (const [path, {blob}] of git.tree()) this.#files.set(path, blob);
  }

  blobId(bytes: Buffer): string {
    return blobId(bytes);
  }

  get committed(): ReadonlyMap<string, string> {
    return this.#files;
  }

  get at(): {commit: string | undefined; prefix: string} {
    return {commit: this.#head, prefix: ''};
  }

  async isOtherMode(): Promise<boolean> {
    return false;
  }

  get count(): number {
    return this.#queue.length;
  }

  async refresh(): Promise<string[]> {
    this.#look();
    const paths = [...this.#foreign];
    this.#foreign.clear();
    return paths;
  }

  #look(): void {
    const {head} = this.#git;
    if (head === this.#head) return;
    const tree = this.#git.tree();
    for (const path of new Set([...tree.keys(), ...this.#files.keys()])) {
      const [before, now] = [this.#files.get(path), tree.get(path)?.blob];
      if (before === now) continue;
      if (before && this.#head && head) this.#left.set(`${path}\0${before}`, this.#head);
      if (now) this.#files.set(path, now);
      else this.#files.delete(path);
      this.#foreign.add(path);
      this.#foreignAt.set(path, this.#time.now);
    }
    this.#head = head;
  }

  keep(bytes: Buffer): string {
    this.#process.step();
    return this.#git.put(bytes);
  }

  async read(blob: string): Promise<Buffer | undefined> {
    return this.#git.blobs.get(blob);
  }

  async before(commit: string, path: string): Promise<string | undefined> {
    return this.#git.tree(this.#git.commits.get(commit)?.parent ?? '').get(path)?.blob;
  }

  async since(commit: string): Promise<Map<string, string | undefined>> {
    const known = new Set([...this.#git.history(commit)].map(({id}) => id));
    const later = [...this.#git.history()].filter(({id}) => !known.has(id));
    return new Map(later.map(each => [each.id, causeOf(each)]));
  }

  /** Newest first: commits that changed a path, with what it was after and before. */
  *#changes(path: string, from?: string): Generator<{commit: Commit; leaf: Leaf | undefined; was: Leaf | undefined}> {
    for (const commit of this.#git.history(from)) {
      const [leaf, was] = [commit.tree.get(path), commit.parent ? this.#git.tree(commit.parent).get(path) : undefined];
      if (leaf?.blob !== was?.blob) yield {commit, leaf, was};
    }
  }

  async versions(path: string, n: number): Promise<Version[]> {
    return this.allVersions(path, n);
  }

  async allVersions(path: string, n: number): Promise<Version[]> {
    const found: Version[] = [];
    for (const {commit, leaf} of this.#changes(path)) {
      if (found.length === n) break;
      const cause = causeOf(commit);
      const byPerson = isEdit(cause, commit.author.email === PERSON.email);
      if (leaf)
        found.push({blob: leaf.blob, commit: commit.id, cause, byPerson, at: Math.floor(commit.at / 1000) * 1000});
    }
    return found;
  }

  isPlainCommit({commit}: Version): boolean {
    return this.#git.commits.get(commit)?.byHand === 'commit';
  }

  async committedOver(since: string | undefined): Promise<Map<string, string>> {
    const known = new Set(since ? [...this.#git.history(since)].map(({id}) => id) : []);
    const over = new Map<string, string>();
    const done = new Set<string>();
    for (const commit of this.#git.history()) {
      if (known.has(commit.id)) break;
      const was = this.#git.tree(commit.parent ?? '');
      const isPlain = commit.byHand === 'commit';
      for (const path of new Set([...commit.tree.keys(), ...was.keys()])) {
        const before = was.get(path)?.blob;
        if (before === commit.tree.get(path)?.blob || done.has(path)) continue;
        if (!isPlain || before === undefined) done.add(path);
        else over.set(path, before);
        if (isPlain && before === undefined) over.delete(path);
      }
    }
    return over;
  }

  async commitsAfter(commit: string): Promise<RecentCommit[]> {
    const known = new Set([...this.#git.history(commit)].map(({id}) => id));
    if (known.size === 0) return [];
    const later = [...this.#git.history()].filter(({id}) => !known.has(id)).reverse();
    const none = '0'.repeat(40);
    return later.map(each => {
      const was = this.#git.tree(each.parent ?? '');
      const changed = [...new Set([...each.tree.keys(), ...was.keys()])].filter(
        path => each.tree.get(path)?.blob !== was.get(path)?.blob,
      );
      const files = changed.map(path => ({
        path,
        was: was.get(path)?.blob ?? none,
        is: each.tree.get(path)?.blob ?? none,
      }));
      return {id: each.id, byPerson: causeOf(each) === undefined, subject: each.subject, steps: [], files};
    });
  }

  async undone(path: string, blob: string): Promise<CommittedVersion[]> {
    const from = this.#left.get(`${path}\0${blob}`);
    if (from === undefined) return [];
    const past: CommittedVersion[] = [];
    for (const {commit, leaf} of this.#changes(path, from)) {
      if (!leaf) break;
      const {author, subject, trailers} = commit;
      past.push({...leaf, author, subject, trailers: trailers.map(([key, value]) => [key, value])});
    }
    if (past[0]?.blob !== blob) return [];
    const now = this.#files.get(path);
    const known = past.findIndex(version => version.blob === now);
    const since = known !== -1 ? known : now === undefined ? past.length : 1;
    return past.slice(0, since).reverse();
  }

  add(entry: JournalEntry): Promise<CommittedEntry & {already?: true}> {
    this.#process.check();
    const since = this.#time.now;
    for (const {content} of entry.changes) {
      const blob = content && this.#git.put(content.bytes);
      if (blob && entry.author !== 'human') this.#git.daemonBlobs.add(blob);
    }
    return this.#process.while(
      new Promise((resolve, reject) => {
        if (this.#isClosed) return reject(new Error('the journal is closed'));
        this.#queue.push({entry, since, resolve, reject});
        this.#plan(FIRST_PUBLISH_MS);
      }),
    );
  }

  #plan(ms: number): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    const more = this.expecting() ? 60 : 0;
    const late = this.#random.chance(0.1) ? this.#random.int(500) : 0;
    this.#time.after(ms + more + late, () => this.#publish(), this.#process);
  }

  #publish(): void {
    this.#isPlanned = false;
    if (this.#isClosed) return;
    const why =
      this.busy() ?? (this.#time.now < this.#git.faults.blockedUntil ? 'git is at work in another process' : undefined);
    this.#tellWaiting(why);
    if (why !== undefined) {
      this.#plan(100);
      return;
    }
    // The batch is prepared, and the ref moves; killed in between, nothing is published.
    this.#process.step();
    const done = this.#queue.map(queued => this.#commit(queued));
    this.#process.step();
    for (const [i, {entry, resolve}] of this.#queue.splice(0, done.length).entries()) {
      const paths = entry.changes.map(({path}) => path);
      resolve({commit: '', subject: entry.subject, paths, ...done[i]});
    }
    for (const wake of this.#waiters.splice(0)) wake();
    if (this.#queue.length > 0) this.#plan(GAP_MS);
  }

  #commit({entry, since}: Queued): {commit: string; already?: true} {
    this.#look();
    const tree = new Map(this.#git.tree());
    for (const {path, content} of entry.changes) {
      if (this.#isOvertaken(path, since)) continue;
      if (content) tree.set(path, {blob: this.#git.put(content.bytes), mode: content.mode});
      else tree.delete(path);
    }
    if (isSameTree(tree, this.#git.tree())) return {commit: this.#git.head ?? '', already: true};
    const author = entry.author === 'human' ? PERSON : entry.author;
    const {id} = this.#git.commit(tree, {author, subject: entry.subject, trailers: entry.trailers});
    this.#head = id;
    for (const {path} of entry.changes) {
      const blob = tree.get(path)?.blob;
      if (blob) this.#files.set(path, blob);
      else this.#files.delete(path);
    }
    return {commit: id};
  }

  /** Somebody committed the file since, and the file is what they committed. */
  #isOvertaken(path: string, since: number): boolean {
    return (this.#foreignAt.get(path) ?? 0) >= since && this.#holdsHead(path);
  }

  isRestored(path: string, since: number): boolean {
    return (this.#git.movedAt >= since || (this.#foreignAt.get(path) ?? 0) >= since) && this.#holdsHead(path);
  }

  #holdsHead(path: string): boolean {
    const there = this.#person.exists(path) ? blobId(this.#person.read(path)) : undefined;
    return there === this.#files.get(path);
  }

  #tellWaiting(why: string | undefined): void {
    if (why === this.waiting) return;
    this.waiting = why;
    this.onWaiting(why);
  }

  async staged(path: string): Promise<string | undefined> {
    return this.#git.staged.get(path) ?? this.#git.tree().get(path)?.blob;
  }

  async isUnmerged(): Promise<boolean> {
    return false;
  }

  busy(): string | undefined {
    return this.#git.faults.unfinished;
  }

  unfinished(): string | undefined {
    return this.#git.faults.unfinished;
  }

  async person(): Promise<{name: string; email: string}> {
    return PERSON;
  }

  isSurelyKept(): boolean {
    return true;
  }

  async ignored(): Promise<Set<string>> {
    return new Set();
  }

  flush(ms = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (this.#queue.length === 0) return Promise.resolve(true);
    return this.#process.while(
      new Promise(resolve => {
        const done = () => resolve(this.#queue.length === 0);
        this.#waiters.push(done);
        if (ms !== Number.POSITIVE_INFINITY) this.#time.after(ms, done, this.#process);
      }),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const {reject} of this.#queue.splice(0)) reject(new Error('the journal is closed'));
  }
}

function causeOf({trailers}: Commit): string | undefined {
  return trailers.find(([key]) => key === 'Cause')?.[1];
}
