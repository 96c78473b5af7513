import {createHash} from 'node:crypto';
import {closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, renameSync, writeFileSync} from 'node:fs';
import {appendFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {appendLines, syncLines} from './append-line.ts';
import {nodeDisk} from './disk/disk.ts';

/** So many ids are remembered, at least. */
const MAX_IDS = 100_000;
/** So much of the end of the inbox file is looked through at the start. */
const TAIL = 32 * 1024 * 1024;
const NAME = 24;

/** What came from outside, each once. */
export interface ReceivedIds {
  /**
   * Append the line unless something came under one of these ids before. Durable when it is over; of two at the same
   * time the second waits for what became of the first. Throws if it could not be written: then it did not come.
   * `besides`: ids that are only remembered.
   */
  appendOnce: (ids: readonly string[], line: string, besides?: readonly string[]) => Promise<'taken' | 'known'>;
}

/**
 * A memory of what was appended to this file of `inbox/`. The lines themselves have the first id of each (`id:`); the
 * others, and those of lines that were rotated away, are in `.agentdir/received/`.
 */
export function openReceivedIds(home: string, file: string): ReceivedIds {
  const path = `inbox/${file}`;
  const memory = join(home, '.agentdir/received', file.replace(/\.jsonl$/, ''));
  const known = new Set<string>([...remembered(memory), ...idsInTail(join(home, path)).map(nameOf)]);
  mkdirSync(dirname(memory), {recursive: true});
  let waiting: Waiting[] = [];
  let isWriting = false;
  /** What stands in the file is on the disk. Not known of what others left: they may have been killed before that. */
  let durable = false;
  /** The last append failed: perhaps its lines are there all the same. */
  let doubt = false;

  /** Of two with one id the second shares what becomes of the first. */
  const write = async (batch: readonly Waiting[]): Promise<void> => {
    // That something came before is said only of what is on the disk.
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
      // What stands in the inbox counts; this only makes the memory longer. A torn name is a line of its own.
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

/** A line that is to be written with the next, all at once: the disk is waited for once. */
interface Waiting {
  names: readonly string[];
  besides: readonly string[];
  line: string;
  resolve: (became: 'taken' | 'known') => void;
  reject: (error: Error) => void;
}

/** Ids are strangers' words: by a digest they have one length, and say nothing. */
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
    // It is longer than it need be.
  }
}

/** The ids of the last lines. A line that was begun and not ended never came. */
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
