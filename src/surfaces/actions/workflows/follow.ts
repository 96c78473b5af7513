import {statSync} from 'node:fs';
import {join} from 'node:path';
import {dueMentions} from '../../../formats/channel-cursor.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {holdOf} from '../../../formats/holds-file.ts';
import {memberOf, type Run} from '../../../formats/run.ts';
import {childrenOf} from '../../../formats/session/child-session.ts';
import {parseSession} from '../../../formats/session/session.ts';
import type {Message} from '../../../formats/session/session-schema.ts';
import {addSpent, NOTHING_SPENT, oneTurn, type Spent} from '../../../formats/session/spent.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {listSessions} from '../../../home/session-files.ts';
import {soundHolds} from '../agents/holds.ts';
import {awaitedRequests, openRequests} from '../decide/waits-for.ts';
import {findInstance, statusOf} from '../instances/instances.ts';
import {readSession} from '../talk/find-session.ts';
import {type ChannelRow, readChannel} from './channel.ts';

/** An agent of an instance, as far as its sessions tell. */
export interface AgentProgress {
  /** `reviewer@pr-123` */
  name: string;
  session: string;
  /** Of its session; `new` if there is none yet. */
  status: string;
  usage: Spent;
  /** Its last final answer. */
  answer: string | null;
}

export interface InstanceProgress {
  run: Run;
  status: ReturnType<typeof statusOf>;
  agents: AgentProgress[];
  entries: ChannelRow[];
  usage: Spent;
  /**
   * Whether the status is final until somebody acts. Not so if the file does not show yet what has changed meanwhile: a new mention, a
   * decision, or a session that a person let go on.
   */
  isFinal: boolean;
}

interface KnownSession {
  signature: string;
  agent: string;
  status: string;
  usage: Spent;
  answer: string | null;
  /** Sessions that do tasks for it. */
  children: string[];
}

const NOTHING_KNOWN: KnownSession = {
  ...{signature: '', agent: '', status: 'wrong', usage: NOTHING_SPENT, answer: null},
  children: [],
};

/** Reads the state of an instance from its files, again and again; an unchanged session is read once. */
export class InstanceReader {
  readonly #home: string;
  readonly #instance: string;
  readonly #sessions = new Map<string, KnownSession>();

  constructor(home: string, instance: string) {
    this.#home = home;
    this.#instance = instance;
  }

  /** Undefined: the instance is gone. */
  read(): InstanceProgress | undefined {
    const run = findInstance(this.#home, this.#instance);
    if (!run) return undefined;
    const {entries} = readChannel(this.#home, this.#instance);
    const sessions = listFolder(nodeDisk(this.#home), `sessions/${this.#instance}`).flatMap(path => {
      const known = this.#session(path);
      return known ? [{id: stemOf(path), ...known}] : [];
    });
    const agents = Object.entries(run.agents).map(([member, session]): AgentProgress => {
      const name = `${member}@${this.#instance}`;
      const own = sessions.filter(each => each.agent === name);
      const main = own.find(each => each.id === session) ?? own[0];
      const usage = own.reduce((sum, each) => addSpent(sum, each.usage), NOTHING_SPENT);
      return {name, session: main?.id ?? session, status: main?.status ?? 'new', usage, answer: main?.answer ?? null};
    });
    const usage = [...sessions, ...this.#childrenOf(sessions)].reduce(
      (sum, each) => addSpent(sum, each.usage),
      NOTHING_SPENT,
    );
    const status = statusOf(run);
    return {run, status, agents, entries, usage, isFinal: this.#isFinal(run, status, entries, sessions)};
  }

  #isFinal(
    run: Run,
    status: InstanceProgress['status'],
    entries: readonly ChannelRow[],
    sessions: readonly {id: string; status: string}[],
  ): boolean {
    if (status === 'running') return false;
    if (status === 'stopped' || (!run.kickoff && run.workflow !== 'none')) return true;
    if (run.kickoff && !run.kickoff.posted) return false;
    if (dueMentions(run, entries).length > 0) return false;
    if (status === 'failed') return sessions.some(each => each.status === 'error' || each.status === 'wrong');
    if (status === 'idle') return sessions.every(each => each.status !== 'active' && each.status !== 'new');
    return (run.waiting_for ?? []).every(id => this.#stillWaits(id));
  }

  #stillWaits(id: string): boolean {
    // A session that does a task for an agent of the instance is in the folder of its own agent.
    const file = listSessions(this.#home).find(each => each.id === id);
    const found = file && readSession(this.#home, file);
    if (!found) return false;
    const {status, agent_id: agent} = found.header;
    if (status !== 'waiting') return status === 'paused' || holdOf(soundHolds(this.#home), agent) !== undefined;
    const ids = awaitedRequests(found.header, found.session.messages);
    return openRequests(this.#home, ids).length === ids.length;
  }

  /** Other sessions that do tasks for these: those of agents of the home are in folders of their own. */
  #childrenOf(sessions: readonly (KnownSession & {id: string})[]): KnownSession[] {
    const ids = new Set(sessions.flatMap(({children}) => children));
    for (const {id} of sessions) ids.delete(id);
    if (ids.size === 0) return [];
    return listSessions(this.#home).flatMap(({id, path}) => (ids.has(id) ? (this.#session(path) ?? []) : []));
  }

  #session(path: string): KnownSession | undefined {
    const signature = signatureOf(join(this.#home, path));
    const known = this.#sessions.get(path);
    if (known?.signature === signature) return known;
    const read = readHomeFile(nodeDisk(this.#home), path);
    const session = read && 'text' in read ? parseSession(read.text) : undefined;
    if (session && !session.header) return {...(known ?? NOTHING_KNOWN), status: 'wrong'};
    if (!session?.header) return known;
    const {header, messages} = session;
    const found = {
      signature,
      agent: header.agent_id,
      status: header.status ?? 'new',
      usage: messages.reduce(addTurn, NOTHING_SPENT),
      answer: messages.findLast(({role, tool_calls}) => role === 'assistant' && !tool_calls?.length)?.content ?? null,
      children: [...childrenOf(session).keys()],
    };
    this.#sessions.set(path, found);
    return found;
  }
}

function addTurn(sum: Spent, {role, usage}: Message): Spent {
  return role === 'assistant' && usage ? addSpent(sum, oneTurn(usage)) : sum;
}

function signatureOf(path: string): string {
  try {
    const {mtimeMs, size, ino} = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return '';
  }
}

/** The name of an agent within its instance. */
export function shortName(agent: string): string {
  return memberOf(agent)?.name ?? agent;
}
