import {randomUUID} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {laterTime} from '../../src/formats/common/values.ts';
import {parseSession, type Session, sessionText} from '../../src/formats/session/session.ts';
import {appendMessage, setSessionField} from '../../src/formats/session/session-edit.ts';
import type {Message, SessionHeader} from '../../src/formats/session/session-schema.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {tryLock} from '../../src/home/disk/lock.ts';
import {LiveOutput} from '../../src/home/live.ts';
import {save} from '../../src/home/save.ts';
import {listSessions} from '../../src/home/session-files.ts';
import {DAEMON_LOCK} from '../../src/home/status.ts';
import {until} from './run.ts';

/** The test itself as the daemon of a home: it holds the lock, writes live output and session files. */
export interface PlayedDaemon {
  /** Until a session has a message with this text: that session. */
  asked: (text: string) => Promise<PlayedSession>;
  stop: () => void;
}

export interface PlayedSession {
  id: string;
  path: string;
  /** Begins a turn, asked with so many messages and answers; with all that the file has, if none are given. */
  turn: (messages?: number, answers?: number) => LiveOutput;
  /** Writes a message, or none, and keys of the header, as one save. */
  write: (message: Partial<Message> | undefined, header?: Partial<SessionHeader>) => Promise<void>;
  read: () => Session;
}

export function playDaemon(home: string): PlayedDaemon {
  const lock = tryLock(nodeDisk(home), DAEMON_LOCK);
  if (!('release' in lock)) throw new Error('the home has a daemon');
  onTestFinished(() => lock.release());
  return {
    asked: async text => {
      const found = await until(
        () => listSessions(home).find(({path}) => readFileSync(join(home, path), 'utf8').includes(text)),
        file => file !== undefined,
      );
      return playSession(home, found as {id: string; path: string});
    },
    stop: () => lock.release(),
  };
}

export function playSession(home: string, {id, path}: {id: string; path: string}): PlayedSession {
  const read = () => parseSession(readFileSync(join(home, path), 'utf8'));
  const live = new LiveOutput(nodeDisk(home), id, read().header?.agent_id ?? '');
  return {
    id,
    path,
    read,
    turn: (messages = read().messages.length, answers = answersIn(read().messages.slice(0, messages))) => {
      live.begin(randomUUID(), {messages, answers});
      return live;
    },
    write: async (message, header = {}) => {
      const bytes = readFileSync(join(home, path));
      const now = new Date().toISOString();
      let session = parseSession(bytes.toString());
      if (message) session = appendMessage(session, {timestamp: now, role: 'assistant', ...message});
      for (const [key, value] of Object.entries({...header, updated: laterTime(now, session.header?.updated)}))
        session = setSessionField(session, key, value);
      const result = await save(nodeDisk(home), {path, expected: bytes, bytes: Buffer.from(sessionText(session))});
      if (!('saved' in result)) throw new Error(JSON.stringify(result));
    },
  };
}

const answersIn = (messages: readonly Message[]) => messages.filter(({role}) => role === 'assistant').length;
