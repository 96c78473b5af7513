import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import {plainName, shortHash} from '../files/inbox-message.ts';
import {type OpenInbox, readLines} from '../store/inbox-lines.ts';
import {listFolder} from '../store/read.ts';
import {LinesRead} from './lines-read.ts';

const SLICE_MS = 8;

/** A file that is read already, up to `offset`. */
export async function linesOf(file: OpenInbox, offset: number): Promise<LinesRead> {
  const lines = new LinesRead();
  for (let from = 0; from < offset && !lines.incomplete; ) {
    const chunk = await readLines({...file, size: offset}, from, {holes: true});
    for (const {bytes} of chunk.lines) lines.add(shortHash(bytes));
    if (chunk.end === from) break;
    from = chunk.end;
    await turn();
  }
  return lines;
}

/** Lines of an inbox that are in sessions, from this generation on. It costs a look at every session, and makes way for others. */
export async function linesDelivered(home: string, name: string, since: number): Promise<LinesRead> {
  const lines = new LinesRead();
  const pattern = new RegExp(
    `delivery: inbox/${plainName(name).replace(/[.]/g, '\\.')}@(\\d+):\\d+:([0-9a-f]{12})$`,
    'gm',
  );
  let slice = performance.now();
  for (const path of listFolder(home, 'sessions')) {
    for (const [, generation, hash = ''] of textOf(join(home, path)).matchAll(pattern))
      if (Number(generation) >= since) lines.add(hash);
    if (performance.now() - slice < SLICE_MS) continue;
    await turn();
    slice = performance.now();
  }
  return lines;
}

function textOf(place: string): string {
  try {
    return readFileSync(place, 'utf8');
  } catch {
    return '';
  }
}
