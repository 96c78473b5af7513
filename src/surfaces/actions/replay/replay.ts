import {kindOf} from '../../../formats/common/key.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {
  isCommitOfHome,
  type JournalWalk,
  type WalkedCommit,
  walkedText,
  walkJournal,
} from '../../../home/journal-walk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {applyFile, emptyState, type HomeState, nextState, settleState} from '../verify/home-state.ts';
import {Conversations} from './conversations.ts';
import {endings} from './ending.ts';
import type {VersionSource} from './entry.ts';
import type {ReplayedSession} from './replayed.ts';
import {copyHome, emptyHome, type PastHome, sessionIdOf} from './track.ts';

export interface ReplayOptions {
  /** Selects sessions by id. */
  wants: (session: string) => boolean;
  /** Judge calls by the policy of their time, or the current one. */
  policy: 'then' | 'now';
  progress?: (done: number, total: number) => void;
}

export interface Replay {
  commits: number;
  shallow: boolean;
  sessions: ReplayedSession[];
}

/** Replays sessions with recorded answers and results, without asking or running anything. */
export async function replay(home: string, options: ReplayOptions): Promise<Replay> {
  const wants = (path: string) => isPolicy(path) || (kindOf(path) === 'session' && options.wants(sessionIdOf(path)));
  const walk = await walkJournal(home, wants);
  try {
    return await new Replayer(home, walk, options, wants).run();
  } finally {
    walk.close();
  }
}

/** Files that affect verdicts. */
function isPolicy(path: string): boolean {
  const kind = kindOf(path);
  return kind === 'settings' || kind === 'policy' || kind === 'template' || kind === 'run';
}

class Replayer {
  readonly #home: string;
  readonly #walk: JournalWalk;
  readonly #options: ReplayOptions;
  readonly #wants: (path: string) => boolean;
  readonly #conversations: Conversations;
  readonly #states = new Map<string, {state: PastHome; uses: number}>();
  readonly #homes = new Set(['home']);

  constructor(home: string, walk: JournalWalk, options: ReplayOptions, wants: (path: string) => boolean) {
    this.#home = home;
    this.#walk = walk;
    this.#options = options;
    this.#wants = wants;
    this.#conversations = new Conversations(options.policy === 'now' ? presentHome(home) : undefined);
  }

  async run(): Promise<Replay> {
    const {total, shallow, commits, fileAt} = this.#walk;
    let state = emptyHome();
    let done = 0;
    let ofHome = 0;
    for await (const commit of commits()) {
      state = await this.#commit(commit, done++);
      if (isCommitOfHome(commit)) ofHome++;
      this.#options.progress?.(done, total);
    }
    const sessions = await endings(this.#conversations, state, {
      onDisk: path => {
        const read = readHomeFile(nodeDisk(this.#home), path);
        if (!read) return undefined;
        return 'text' in read ? read : {problem: read.problem.message};
      },
      fileAt,
      order: done,
    });
    return {commits: ofHome, shallow, sessions};
  }

  async #commit(commit: WalkedCommit, order: number): Promise<PastHome> {
    const state = this.#take(commit.parents);
    const {id, author, time, cause} = commit;
    const by: VersionSource = {
      commit: id,
      order,
      author: author.name,
      time,
      cause,
      engine: this.#isOurs(author),
      joins: commit.parents.length > 1,
    };
    const changes = commit.changes.filter(({path}) => this.#wants(path));
    const policies = changes.filter(({path}) => isPolicy(path));
    if (policies.length > 0) {
      state.former = {home: state.home, time};
      state.home = nextState(state.home);
      for (const change of policies) {
        const read = await walkedText(change);
        if ('text' in read) applyFile(state.home, change.path, read.text);
      }
      settleState(state.home);
      if (state.home.settings.name) this.#homes.add(state.home.settings.name);
      this.#conversations.policyChanged(state.home, by);
    }
    // Read segments before their session.
    const sessions = changes.filter(({path}) => !isPolicy(path)).sort((a, b) => rank(a.path) - rank(b.path));
    for (const change of sessions)
      this.#conversations.version(state, change.path, await walkedText(change), {by, begins: commit.cutOff});
    const uses = this.#walk.children.get(id) ?? 0;
    if (uses > 0) this.#states.set(id, {state, uses});
    return state;
  }

  /** As the daemon signs commits: `coder <coder@home>`. */
  #isOurs({name, email}: {name: string; email: string}): boolean {
    return email.startsWith(`${name}@`) && this.#homes.has(email.slice(name.length + 1));
  }

  /** The state of the first parent, copied if another child needs it. */
  #take(parents: readonly string[]): PastHome {
    const [first] = parents.map(id => {
      const known = this.#states.get(id);
      if (known && --known.uses === 0) this.#states.delete(id);
      return known;
    });
    if (!first) return emptyHome();
    return first.uses > 0 ? copyHome(first.state) : first.state;
  }
}

function rank(path: string): number {
  return path.startsWith('sessions/archive/') ? 0 : 1;
}

/** The policy, settings and templates as they are on disk. */
function presentHome(home: string): HomeState {
  const state = emptyState();
  for (const path of [
    'agentdir.yaml',
    'allowlist.yaml',
    ...listFolder(nodeDisk(home), 'templates'),
    ...listFolder(nodeDisk(home), '.workflow'),
  ]) {
    const read = readHomeFile(nodeDisk(home), path);
    if (read && 'text' in read) applyFile(state, path, read.text);
  }
  return state;
}
