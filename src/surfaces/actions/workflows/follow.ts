import {statSync} from 'node:fs';
import {join} from 'node:path';
import {stemOf} from '../../../formats/common/key.ts';
import {memberOf, type Run} from '../../../formats/run.ts';
import {parseSession} from '../../../formats/session/session.ts';
import type {Message} from '../../../formats/session/session-schema.ts';
import {addSpent, NOTHING_SPENT, oneTurn, type Spent} from '../../../formats/session/spent.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {findInstance, statusOf} from '../instances/instances.ts';
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
}

interface KnownSession {
  signature: string;
  agent: string;
  status: string;
  usage: Spent;
  answer: string | null;
}

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
    const usage = sessions.reduce((sum, each) => addSpent(sum, each.usage), NOTHING_SPENT);
    return {run, status: statusOf(run), agents, entries, usage};
  }

  #session(path: string): KnownSession | undefined {
    const signature = signatureOf(join(this.#home, path));
    const known = this.#sessions.get(path);
    if (known?.signature === signature) return known;
    const read = readHomeFile(nodeDisk(this.#home), path);
    const session = read && 'text' in read ? parseSession(read.text) : undefined;
    if (!session?.header) return known;
    const {header, messages} = session;
    const found = {
      signature,
      agent: header.agent_id,
      status: header.status ?? 'new',
      usage: messages.reduce(addTurn, NOTHING_SPENT),
      answer: messages.findLast(({role, tool_calls}) => role === 'assistant' && !tool_calls?.length)?.content ?? null,
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
