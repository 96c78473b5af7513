import {readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {nodeDisk} from './disk/disk.ts';
import {livingHolder} from './disk/lock.ts';

/** Connectors receive events from outside. Each is a separate process, at most one per kind and home. */
export const connectorNames = ['webhook', 'mail'] as const;
export type ConnectorName = (typeof connectorNames)[number];

/** A connector's description of itself in .agentdir/, for `agentdir status`. */
export interface ConnectorNote {
  since: string;
  /** The address it listens on, or the mailbox it watches. */
  at: string;
  /** Why it cannot receive events now. */
  trouble?: string | undefined;
}

export type ConnectorState = {name: ConnectorName; pid: number} & Partial<ConnectorNote>;

export const connectorLock = (name: ConnectorName) => `.agentdir/locks/${name}`;
const notePath = (home: string, name: ConnectorName) => join(home, '.agentdir', `${name}.json`);

/** The running connector of this kind. */
export function connectorOf(home: string, name: ConnectorName): ConnectorState | undefined {
  const holder = livingHolder(nodeDisk(home), connectorLock(name));
  if (!holder) return undefined;
  const {pid, ...note} = readNote(home, name);
  // A note with another pid belongs to an earlier process.
  return {name, pid: holder.pid, ...(pid === holder.pid && note)};
}

function readNote(home: string, name: ConnectorName): Partial<ConnectorNote> & {pid?: number} {
  try {
    return JSON.parse(readFileSync(notePath(home, name), 'utf8')) as ConnectorNote & {pid: number};
  } catch {
    return {};
  }
}

/** Must not throw: the connector works without its note. */
export function noteConnector(home: string, name: ConnectorName, note: ConnectorNote): void {
  const path = notePath(home, name);
  try {
    writeFileSync(`${path}.tmp`, `${JSON.stringify({pid: process.pid, ...note})}\n`);
    renameSync(`${path}.tmp`, path);
  } catch {
    // For example, the disk is full. `agentdir status` then only shows that it runs.
  }
}
