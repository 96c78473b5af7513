import {createHash} from 'node:crypto';
import {closeSync, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync} from 'node:fs';
import {appendFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {appendLines, syncLines} from './append-line.ts';
import {nodeDisk} from './disk/disk.ts';
import {makeFolders} from './disk/make-folders.ts';

/** How many ids are remembered, at least. */
const MAX_IDS = 100_000;
/** How many bytes at the end of the inbox file are searched for ids. */
const TAIL = 32 * 1024 * 1024;
const NAME = 24;

/** Deduplicates events from outside by id. */
export interface ReceivedIds {
  /**
   * Append the line unless one of these ids was received before. Durable when it resolves. Of two calls with the same id, the second
   * waits for the first. Rejects if the line could not be written: then it was not received. `besides`: ids to remember without
   * checking them.
   */
  appendOnce: (ids: readonly string[], line: string, besides?: readonly string[]) => Promise<'taken' | 'known'>;
}

/**
 * Open the ids received in this file of `inbox/`. Each line contains its first id. `.agentdir/received/` has the other ids, and those of
 * rotated lines.
 */
export function openReceivedIds(home: string, file: string): ReceivedIds {
  const path = `inbox/${file}`;
  const memory = join(home, '.agentdir/received', file.replace(/\.jsonl$/, ''));
  const known = new Set<string>([...remembered(memory), ...idsInTail(join(home, path)).map(nameOf)]);
  makeFolders(dirname(memory));
  let waiting: Waiting[] = [];
  let isWriting = false;
  /** All lines of the file are synced. Initially false: an earlier process may have been killed before its sync. */
  let durable = false;
  /** The last append failed, but its lines may be in the file. */
  let doubt = false;

  const write = async (batch: readonly Waiting[]): Promise<void> => {
    // Only durable lines count as received.
    if (!durable) await syncLines(nodeDisk(home), path);
    durable = true;
    if (doubt) for (const id of idsInTail(join(home, path))) known.add(nameOf(id));
    doubt = false;
    const fresh = new Set<string>();
    const lines: Waiting[] = [];
    for (const each of batch) {
      if (each.names.some(name => known.has(name) || fresh.has(name))) continue;
      for (const name of each.names) fresh.add(name);
      lines.push(each);
    }
    if (lines.length > 0) {
      await appendLines(nodeDisk(home), path, lines.map(({line}) => line).join('')).catch(error => {
        durable = false;
        doubt = true;
        throw error;
      });
      const names = lines.flatMap(({names, besides}) => [...names, ...besides]);
      for (const name of names) known.add(name);
      // A failure is harmless, because the inbox file has the ids of its last lines. The leading newline isolates a torn name.
      await appendFile(memory, names.map(name => `\n${name}`).join('')).catch(() => {});
      if (known.size > 2 * MAX_IDS) forgetOldest(known, memory);
    }
    for (const each of batch) each.resolve(lines.includes(each) ? 'taken' : 'known');
  };
  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await write(batch).catch(error => {
        for (const {reject} of batch) reject(error);
      });
    }
    isWriting = false;
  };
  return {
    appendOnce: (ids, line, besides = []) =>
      new Promise((resolve, reject) => {
        waiting.push({names: ids.map(nameOf), besides: besides.map(nameOf), line, resolve, reject});
        if (!isWriting) void writeAll();
      }),
  };
}

/** A line that waits for the next batch. A batch is one write and one sync. */
interface Waiting {
  names: readonly string[];
  besides: readonly string[];
  line: string;
  resolve: (result: 'taken' | 'known') => void;
  reject: (error: Error) => void;
}

/** Hash an id, because ids come from outside: a digest has a fixed length and safe characters. */
function nameOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, NAME);
}

function remembered(memory: string): string[] {
  try {
    return readFileSync(memory, 'latin1')
      .split('\n')
      .filter(name => name.length === NAME);
  } catch {
    return [];
  }
}

function forgetOldest(known: Set<string>, memory: string): void {
  const kept = [...known].slice(-MAX_IDS);
  known.clear();
  for (const name of kept) known.add(name);
  try {
    writeFileSync(`${memory}.tmp`, kept.join('\n'));
    renameSync(`${memory}.tmp`, memory);
  } catch {
    // The file stays longer than necessary.
  }
}

/** The ids of the last lines. An incomplete line does not count as received. */
function idsInTail(path: string): string[] {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return [];
  }
  try {
    const {size} = fstatSync(fd);
    const from = Math.max(0, size - TAIL);
    const bytes = Buffer.alloc(size - from);
    const length = readSync(fd, bytes, 0, bytes.length, from);
    const lines = bytes.toString('utf8', 0, length).split('\n').slice(0, -1);
    return lines.flatMap(idIn);
  } finally {
    closeSync(fd);
  }
}

function idIn(line: string): string[] {
  if (!line.includes('"id"')) return [];
  try {
    const {id, direction} = JSON.parse(line) as {id?: unknown; direction?: unknown};
    return typeof id === 'string' && direction !== 'out' ? [id] : [];
  } catch {
    return [];
  }
}
