import {statSync} from 'node:fs';
import {join} from 'node:path';
import {setImmediate as breathe} from 'node:timers/promises';
import {UserError} from '../../formats/common/errors.ts';
import {folders, HOLDS_FILE, isSegment, kindOf, stemOf} from '../../formats/common/key.ts';
import {channelPath, instanceOf, isInMemory} from '../../formats/run.ts';
import type {Task} from '../../formats/task/task.ts';
import {parseTasks} from '../../formats/task/task-parse.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../home/read.ts';
import {listSessions, sessionHead} from '../../home/session-files.ts';
import {daemonOf} from '../../home/status.ts';
import {type HomeWatch, watchHome} from '../../home/watch.ts';
import {holdsIn} from '../actions/agents/holds.ts';
import {isUndecided, type Request, readQueue} from '../actions/decide/queue.ts';
import {findInstance, statusOf} from '../actions/instances/instances.ts';
import {agentName, templates} from '../actions/talk/find-agent.ts';

/** A session, as far as its header tells. */
export interface SessionState {
  id: string;
  path: string;
  agent: string;
  status: string;
  isShared: boolean;
  /** Its agent was made for one task. */
  isEphemeral: boolean;
  changed: number;
}

/** A workflow instance with a channel. */
export interface InstanceState {
  instance: string;
  /** Name of the workflow. */
  workflow: string;
  status: ReturnType<typeof statusOf>;
  error: string | undefined;
  /** By the names they have in the channel. */
  agents: readonly string[];
  /** The channel's file; in a mirror below .agentdir/ if the context is kept in memory. */
  channel: string;
}

const QUEUE = 'tasks/approvals.task.md';
/** Changes within this time are one update. */
const GATHER_MS = 15;
/** Changes that the watch missed are found after this time: of what is on the screen, and of the rest. */
const LOOK_MS = 120;
const LOOK_AT_ALL_MS = 2_000;
/** How many files are read before keys get their turn. */
const AT_ONCE = 50;

/**
 * What chat shows of a home, kept up to date from its files: agents, sessions, tasks, requests, and whether a daemon runs. Reads heads of
 * sessions only.
 */
export class HomeView {
  readonly sessions = new Map<string, SessionState>();
  agents: readonly string[] = [];
  /** Empty: there are no agents. */
  defaultAgent = '';
  tasks: readonly {path: string; task: Task}[] = [];
  /** Undecided, oldest first. */
  requests: readonly Request[] = [];
  /** Workflow instances with a channel, by name. */
  readonly instances = new Map<string, InstanceState>();
  /** Agents that are stopped. */
  held: ReadonlySet<string> = new Set();
  isServed = false;
  /** Why requests cannot be read. */
  wrong: string | undefined;
  /** Called after changes, with the paths that may have changed. */
  onChange: (paths: ReadonlySet<string>) => void = () => {};
  readonly #home: string;
  readonly #tasks = new Map<string, Task[]>();
  /** Which instance each run.yaml is of. */
  readonly #runs = new Map<string, string>();
  readonly #seen = new Map<string, string>();
  #dirty = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #polls: NodeJS.Timeout[] = [];
  #watch: HomeWatch | undefined;
  #isClosed = false;
  /** Files that are looked at often. */
  #shown: readonly string[] = [];

  constructor(home: string) {
    this.#home = home;
  }

  /** The little that the first screen needs. */
  begin(): void {
    this.#readAgents();
    this.#readRequests();
    this.isServed = daemonOf(nodeDisk(this.#home)) !== undefined;
  }

  /** Reads the rest and follows what changes. */
  async follow(): Promise<void> {
    const watch = watchHome(nodeDisk(this.#home), path => {
      if (path !== undefined) this.#hint(path);
    });
    this.#watch = watch;
    watch.cover('.agentdir');
    for (const folder of folders) this.#cover(watch, folder);
    this.#polls = [
      setInterval(() => this.#lookAt([QUEUE, ...this.#shown]), LOOK_MS),
      setInterval(() => this.#lookAtDaemon(), LOOK_MS),
      setInterval(() => void this.#lookAtAll(), LOOK_AT_ALL_MS),
    ];
    for (const poll of this.#polls) poll.unref();
    await this.#lookAtAll();
  }

  /** Looks at these files often, besides the queue. */
  show(paths: readonly string[]): void {
    this.#shown = paths;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const poll of this.#polls) clearInterval(poll);
    this.#watch?.close();
  }

  /** The latest shared session of an agent. */
  sharedSession(agent: string): SessionState | undefined {
    return this.ofAgent(agent).find(session => session.isShared && session.status !== 'completed');
  }

  /** Latest first. */
  ofAgent(agent: string): SessionState[] {
    return [...this.sessions.values()].filter(each => each.agent === agent).sort((a, b) => b.changed - a.changed);
  }

  /** Looks at a file now, because something was written to it. */
  refresh(path: string): void {
    this.#update(new Set([path]));
  }

  #cover(watch: HomeWatch, folder: string): void {
    watch.cover(folder);
    try {
      for (const entry of nodeDisk(this.#home).list(folder))
        if (entry.isDirectory() && (!entry.name.startsWith('.') || folder.startsWith('.')))
          this.#cover(watch, `${folder}/${entry.name}`);
    } catch {
      // It may come later: the root is watched.
    }
  }

  #hint(path: string): void {
    if (kindOf(path) === undefined && !path.startsWith('.agentdir/locks')) return;
    this.#dirty.add(path);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const dirty = this.#dirty;
      this.#dirty = new Set();
      this.#update(dirty);
    }, GATHER_MS);
  }

  #update(paths: ReadonlySet<string>): void {
    if (this.#isClosed) return;
    const kinds = new Set([...paths].map(path => kindOf(path)));
    for (const path of paths) {
      const kind = kindOf(path);
      if (kind === 'session') this.#readSession(path);
      else if (kind === 'tasks' && path !== QUEUE) this.#readTasks(path);
      else if (kind === 'run') this.#readInstance(path);
    }
    if (kinds.has('template') || kinds.has('settings')) this.#readAgents();
    if (kinds.has('approval') || paths.has(QUEUE)) this.#readRequests();
    if (kinds.has('state')) this.#readHolds();
    if (kinds.has('tasks')) this.tasks = [...this.#tasks].flatMap(([path, tasks]) => tasks.map(task => ({path, task})));
    this.isServed = daemonOf(nodeDisk(this.#home)) !== undefined;
    this.onChange(paths);
  }

  /** Files that changed since the last look, without a watch. */
  #lookAt(paths: readonly string[]): void {
    const changed = paths.filter(path => this.#hasChanged(path));
    if (changed.length > 0) this.#update(new Set(changed));
  }

  #hasChanged(path: string): boolean {
    const stat = statSync(join(this.#home, path), {throwIfNoEntry: false});
    const mark = stat ? `${stat.ino}.${stat.size}.${stat.mtimeMs}` : '';
    if (this.#seen.get(path) === mark || (mark === '' && !this.#seen.has(path))) return false;
    this.#seen.set(path, mark);
    return true;
  }

  async #lookAtAll(): Promise<void> {
    const known = [...this.sessions.keys(), ...this.#tasks.keys(), ...this.#runs.keys()];
    const paths = new Set([
      ...['agentdir.yaml', HOLDS_FILE],
      ...listSessions(this.#home).map(({path}) => path),
      ...listFolder(nodeDisk(this.#home), 'tasks'),
      ...listFolder(nodeDisk(this.#home), '.workflow').filter(path => kindOf(path) === 'run'),
      ...known,
    ]);
    let changed = new Set<string>();
    let count = 0;
    for (const path of paths) {
      if (this.#isClosed) return;
      if (this.#hasChanged(path)) changed.add(path);
      if (++count % AT_ONCE !== 0) continue;
      if (changed.size > 0) this.#update(changed);
      changed = new Set();
      await breathe();
    }
    const agents = this.agents.join(' ');
    this.#readAgents();
    if (changed.size > 0 || agents !== this.agents.join(' ')) this.#update(changed);
  }

  /** A daemon that is killed changes no file. */
  #lookAtDaemon(): void {
    if (this.isServed !== (daemonOf(nodeDisk(this.#home)) !== undefined)) this.#update(new Set());
  }

  #readSession(path: string): void {
    if (isSegment(path) || path.startsWith('sessions/archive/')) return;
    const head = sessionHead(this.#home, path);
    const stat = head === undefined ? undefined : statSync(join(this.#home, path), {throwIfNoEntry: false});
    const agent = head && headerValue(head, 'agent_id');
    if (!head || !agent || !stat) {
      if (!stat) this.sessions.delete(path);
      return;
    }
    this.sessions.set(path, {
      id: stemOf(path),
      path,
      agent,
      status: headerValue(head, 'status') ?? 'new',
      isShared: headerValue(head, 'shared') === 'true',
      isEphemeral: headerValue(head, 'ephemeral') === 'true',
      changed: stat.mtimeMs,
    });
  }

  #readTasks(path: string): void {
    const read = readHomeFile(nodeDisk(this.#home), path);
    if (!read) this.#tasks.delete(path);
    else if ('text' in read) this.#tasks.set(path, [...parseTasks(read.text).tasks]);
  }

  #readAgents(): void {
    this.agents = [...new Set(templates(this.#home).map(stemOf))];
    try {
      this.defaultAgent = agentName(this.#home, undefined);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.defaultAgent = this.agents[0] ?? '';
    }
  }

  /** While a run.yaml has errors, its instance stays as it was known. */
  #readInstance(path: string): void {
    const instance = instanceOf(path) ?? '';
    try {
      const run = findInstance(this.#home, instance);
      this.#runs.set(path, instance);
      if (!run?.context.channel) {
        this.instances.delete(instance);
        if (!run) this.#runs.delete(path);
        return;
      }
      const {name: workflow, error, agents} = run;
      const channel = isInMemory(run) ? `.agentdir/contexts/${instance}/channel.md` : channelPath(instance);
      this.instances.set(instance, {
        instance,
        workflow,
        status: statusOf(run),
        error,
        agents: Object.keys(agents),
        channel,
      });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
    }
  }

  #readHolds(): void {
    try {
      this.held = new Set(Object.keys(holdsIn(this.#home)));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
    }
  }

  /** While the queue has errors, the requests stay as they were known. */
  #readRequests(): void {
    try {
      this.requests = readQueue(this.#home).requests.filter(request => isUndecided(this.#home, request));
      this.wrong = undefined;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.wrong = error.message;
    }
  }
}

/** A plain value of a header, or of keys below the messages. */
function headerValue(head: string, key: string): string | undefined {
  const found = new RegExp(`^${key}:[ \\t]*["']?([^"'\\n#]*?)["']?[ \\t]*(?:#[^\\n]*)?$`, 'm').exec(head);
  return found?.[1]?.trim() || undefined;
}
