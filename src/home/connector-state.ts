import {readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {nodeDisk} from './disk/disk.ts';
import {livingHolder} from './disk/lock.ts';

/** What brings events in from outside: each a process of its own, one of a kind for each home. */
export const connectorNames = ['webhook', 'mail'] as const;
export type ConnectorName = (typeof connectorNames)[number];

/** What such a process says of itself: derived, in .agentdir/, for `agentdir status`. */
export interface ConnectorNote {
  since: string;
  /** Where it listens, or what it watches. */
  at: string;
  /** Why nothing comes in just now. */
  trouble?: string | undefined;
}

export type ConnectorState = {name: ConnectorName; pid: number} & Partial<ConnectorNote>;

export const connectorLock = (name: ConnectorName) => `.agentdir/locks/${name}`;
const notePath = (home: string, name: ConnectorName) => join(home, '.agentdir', `${name}.json`);

/** The process of this kind that runs for this home, if one does. */
export function connectorOf(home: string, name: ConnectorName): ConnectorState | undefined {
  const holder = livingHolder(nodeDisk(home), connectorLock(name));
  if (!holder) return undefined;
  const {pid, ...note} = readNote(home, name);
  // Of one that is no more, or not written yet.
  return {name, pid: holder.pid, ...(pid === holder.pid && note)};
}

function readNote(home: string, name: ConnectorName): Partial<ConnectorNote> & {pid?: number} {
  try {
    return JSON.parse(readFileSync(notePath(home, name), 'utf8')) as ConnectorNote & {pid: number};
  } catch {
    return {};
  }
}

/** Must not throw: that it cannot be shown changes nothing about that it runs. */
export function noteConnector(home: string, name: ConnectorName, note: ConnectorNote): void {
  const path = notePath(home, name);
  try {
    writeFileSync(`${path}.tmp`, `${JSON.stringify({pid: process.pid, ...note})}\n`);
    renameSync(`${path}.tmp`, path);
  } catch {
    // The disk is full, perhaps; status then knows only that it runs.
  }
}
