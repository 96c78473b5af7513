import {readSigners, signersPath} from '../../../effects/signature/signers-file.ts';
import {kindOf, stemOf} from '../../../formats/common/key.ts';
import {
  isCommitOfHome,
  type JournalWalk,
  type WalkedChange,
  type WalkedCommit,
  walkedText,
  walkJournal,
} from '../../../home/journal-walk.ts';
import {Decisions} from './decisions.ts';
import {Executions} from './executions.ts';
import type {AuditFinding} from './finding.ts';
import {
  applyFile,
  copyState,
  emptyState,
  findPage,
  type HomeState,
  isOfState,
  nextState,
  type PastItem,
  settleState,
} from './home-state.ts';
import {SessionVersions} from './session-versions.ts';
import {findingOf, Starts} from './starts.ts';
import {type Writer, writerOf} from './writing.ts';

interface Unread {
  path: string;
  commit: string;
  why: string;
}

export interface Audit {
  /** Commits of the home, without those of a project whose repository it shares. */
  commits: number;
  executions: number;
  decisions: number;
  findings: AuditFinding[];
  /** Files whose last version could not be read. */
  unread: Unread[];
  /** Earlier versions that could not be read: what they hold is in later ones. */
  passing: number;
  /** Starts recorded before their decision after a crash; ordered by the times in the files. */
  recovered: number;
  /** Calls that another system ran, in sessions that a person brought along. */
  elsewhere: number;
  shallow: boolean;
  sessions: readonly string[];
  approvals: readonly string[];
}

/** Walks the journal, oldest first, and finds anything that ran without approval. */
export async function audit(home: string, progress: (done: number, total: number) => void): Promise<Audit> {
  const walk = await walkJournal(home, path => isOfState(path) || kindOf(path) === 'session');
  try {
    return await new Auditor(home, walk).run(progress);
  } finally {
    walk.close();
  }
}

class Auditor {
  readonly #walk: JournalWalk;
  readonly #executions = new Executions();
  readonly #starts: Starts;
  readonly #decisions = new Decisions();
  readonly #findings: AuditFinding[] = [];
  /** Started calls that did not run, by `nameOf`. */
  readonly #refused = new Set<string>();
  readonly #states = new Map<string, {state: HomeState; uses: number}>();
  readonly #versions = new SessionVersions();
  readonly #unread = new Map<string, Unread>();
  readonly #agents = new Set<string>();
  readonly #homes = new Set(['home']);
  #passing = 0;

  constructor(home: string, walk: JournalWalk) {
    this.#walk = walk;
    this.#starts = new Starts(
      this.#decisions,
      (commit, setting) => signersAt(home, walk, commit, setting),
      finding => this.#findings.push(finding),
    );
  }

  async run(progress: (done: number, total: number) => void): Promise<Audit> {
    let done = 0;
    let ofHome = 0;
    let last = emptyState();
    let head: WalkedCommit | undefined;
    for await (const commit of this.#walk.commits()) {
      if (commit.cause !== 'recovered') await this.#starts.resolve(last);
      last = await this.#commit(commit);
      head = commit;
      if (isCommitOfHome(commit)) ofHome++;
      progress(++done, this.#walk.total);
    }
    this.#starts.putBack(true);
    await this.#starts.resolve(last);
    if (head && !this.#walk.shallow) {
      this.#claims(last, head);
      this.#delegations(head);
    }
    return {
      commits: ofHome,
      executions: this.#starts.count,
      decisions: this.#decisions.count,
      findings: this.#findings.filter(({kind, session, call, approval}) => {
        const isOfDecision = kind === 'rejected' || kind === 'undecided' || kind === 'expired';
        return !isOfDecision || !this.#refused.has(nameOf(session, call, approval));
      }),
      unread: [...this.#unread.values()],
      passing: this.#passing - this.#unread.size,
      recovered: this.#starts.recovered,
      elsewhere: this.#executions.elsewhere.size,
      shallow: this.#walk.shallow,
      sessions: [...this.#executions.sessions],
      approvals: [...new Set([...this.#decisions.ids, ...this.#executions.approvals])],
    };
  }

  /** Computes the state at this commit. */
  async #commit(commit: WalkedCommit): Promise<HomeState> {
    const before = commit.parents.flatMap(id => this.#states.get(id)?.state ?? []);
    const sessions = async (states: readonly HomeState[]) => {
      for (const change of commit.changes)
        if (kindOf(change.path) === 'session') await this.#session(commit, change, states);
    };
    // The daemon may record a decision of an earlier commit and start the call in one commit.
    const isStep = commit.joined && this.#writer(commit) !== 'person';
    // Otherwise sessions first: a decision in the same commit came too late.
    if (!isStep) await sessions(before);
    const state = await this.#files(commit, before, this.#take(commit.parents));
    if (isStep) await sessions(before.map(was => ({...was, queues: state.queues, pages: state.pages})));
    const uses = this.#walk.children.get(commit.id) ?? 0;
    if (uses > 0) this.#states.set(commit.id, {state, uses});
    return state;
  }

  async #files(commit: WalkedCommit, before: readonly HomeState[], from: HomeState): Promise<HomeState> {
    const changes = commit.changes.filter(({path}) => isOfState(path));
    if (changes.length === 0) return from;
    const state = nextState(from);
    for (const change of changes) {
      const read = await walkedText(change);
      if ('problem' in read) this.#cannotRead(commit, change.path, read.problem);
      else if (applyFile(state, change.path, read.text)) this.#unread.delete(change.path);
      else this.#cannotRead(commit, change.path, 'it has errors');
    }
    for (const {id} of state.templates.values()) this.#agents.add(id);
    for (const run of state.runs.values()) for (const name of Object.keys(run.agents)) this.#agents.add(name);
    if (state.settings.name) this.#homes.add(state.settings.name);
    const {id, time, cutOff, cause} = commit;
    const paths = changes.map(({path}) => path);
    if (cutOff) this.#decisions.begin(state, id, time);
    else {
      const writer = this.#writer(commit);
      this.#findings.push(...this.#decisions.read(paths, before, state, {commit: id, time, writer, cause}));
      this.#starts.putBack();
      // Agents may write request pages, without a decision.
      const asks = (path: string) =>
        path.startsWith('approvals/pending/') &&
        [...before, state].every(one => findPage(one, stemOf(path))?.decision === undefined);
      if (writer === 'agent')
        this.#agentWrote(
          commit,
          paths.filter(path => !asks(path)),
        );
    }
    settleState(state);
    return state;
  }

  #writer({author, joined}: WalkedCommit): Writer {
    const writer = writerOf(author, name => this.#agents.has(name.split('@')[0] ?? ''), this.#homes);
    // The daemon wrote the other files of an agent's step.
    return joined && writer === 'agent' ? 'daemon' : writer;
  }

  #agentWrote({id: commit, time, author, parents}: WalkedCommit, paths: readonly string[]): void {
    // A merge has content by others.
    if (parents.length > 1 || paths.length === 0) return;
    const what = `${author.name} changed ${paths.join(', ')}`;
    this.#findings.push({kind: 'agent-wrote', what, commit, time});
  }

  async #session(commit: WalkedCommit, change: WalkedChange, before: readonly HomeState[]): Promise<void> {
    const {path} = change;
    const read = await walkedText(change);
    if ('problem' in read) return this.#cannotRead(commit, path, read.problem);
    // A removed file whose last version could not be read stays unread.
    if (read.text === undefined) return this.#versions.forget(path);
    const {session, before: former} = this.#versions.read(path, read.text);
    if (!session.header) return this.#cannotRead(commit, path, 'it has errors');
    this.#unread.delete(path);
    const byPerson = this.#writer(commit) === 'person';
    const {started, odd, refused} = this.#executions.read(path, session, former, byPerson);
    if (commit.cutOff) return;
    for (const {session: of, call} of refused) this.#refused.add(nameOf(of, call.id, call.approval));
    for (const {session: of, call, objection} of odd) this.#findings.push(findingOf(commit, of, call, objection));
    for (const execution of started) await this.#starts.add({commit, execution, before});
  }

  /** Finds sessions that say they do a task for another one, and nobody gave it. */
  #delegations({id: commit, time}: WalkedCommit): void {
    for (const session of this.#executions.undelegated()) {
      const what = `${session} says it does a task for another session, and no call there gave it`;
      this.#findings.push({kind: 'no-delegation', what, commit, time, session});
    }
  }

  /** Finds items that claim an execution without a session. */
  #claims(state: HomeState, {id: commit, time}: WalkedCommit): void {
    for (const items of state.queues.values())
      for (const [approval, item] of items) {
        const at = item.field('executed_at');
        if (at === undefined || this.#executions.approvals.has(approval) || this.#isStart(item)) continue;
        const session = item.field('session');
        const what = `approval ${approval} says it was executed ${at}, and no session has that`;
        this.#findings.push({kind: 'no-execution', what, commit, time, approval, ...(session && {session})});
      }
  }

  /** Whether the item approved the start of a task that was then delivered. */
  #isStart({field}: PastItem): boolean {
    return field('approval_type') === 'task_start' && this.#executions.tasks.has(field('task') ?? '');
  }

  #cannotRead({id: commit}: WalkedCommit, path: string, why: string): void {
    this.#passing++;
    this.#unread.set(path, {path, commit, why});
  }

  /** The state of the first parent, copied if another child needs it. */
  #take(parents: readonly string[]): HomeState {
    const [first] = parents.map(id => {
      const known = this.#states.get(id);
      if (known && --known.uses === 0) this.#states.delete(id);
      return known;
    });
    if (!first) return emptyState();
    return first.uses > 0 ? copyState(first.state) : first.state;
  }
}

const nameOf = (...parts: (string | undefined)[]): string => parts.join('\0');

/** The file at the commit, or on disk if it is outside the journal. */
async function signersAt(
  home: string,
  walk: JournalWalk,
  {id}: WalkedCommit,
  setting: string,
): Promise<{text: string} | {problem: string}> {
  const place = signersPath(home, setting);
  const kept = await walk.fileAt(id, setting.replace(/^\.\//, ''));
  if ('problem' in place && !place.problem.endsWith('not there')) return place;
  if (kept) return {text: kept.toString('utf8')};
  return 'problem' in place ? place : readSigners(place.path);
}
