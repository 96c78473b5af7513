import {type Cursor, type Position, readAs} from '../../formats/cursor-file.ts';
import {KEYED, plainName, shortHash} from '../../formats/inbox-message.ts';
import {parseRejected} from '../../formats/rejected.ts';
import {deliveriesIn} from '../../formats/session/session-deliveries.ts';
import type {Disk} from '../../home/disk/disk.ts';
import {marksOf, type OpenInbox, readLines} from '../../home/inbox-lines.ts';
import {listFolder} from '../../home/read.ts';
import {rejectedPath} from '../../home/rejected-lines.ts';
import {LinesRead} from '../state/lines-read.ts';

const SLICE_MS = 8;

/** A file that is read already, up to `offset`. */
export async function linesOf(file: OpenInbox, offset: number, most?: number): Promise<LinesRead> {
  const lines = new LinesRead(most);
  for (let from = 0; from < offset && !lines.incomplete; ) {
    const chunk = await readLines({...file, size: offset}, from, {holes: true});
    for (const {bytes} of chunk.lines) lines.add(shortHash(bytes));
    if (chunk.end === from) break;
    from = chunk.end;
    await file.clock.nextTurn();
  }
  return lines;
}

/**
 * Lines of an inbox that are in sessions or set aside, from this generation on (`upTo` another), or as which its file was read under another
 * name; and the last generation of them. It costs a look at every session, and makes way for others.
 */
export async function linesDelivered(
  disk: Disk,
  inbox: string,
  {since, as, upTo = Number.POSITIVE_INFINITY}: Pick<Cursor, 'since' | 'as'> & {upTo?: number},
): Promise<{lines: LinesRead; last: number}> {
  const lines = new LinesRead();
  let last = 0;
  const own = plainName(inbox);
  const before = as === undefined ? undefined : readAs(as, since);
  const other = before && plainName(before.name);
  const find = (id: string) => {
    const [, name, at, hash = ''] = /^inbox\/(.+)@(\d+):\d+:([0-9a-f]{12})$/.exec(id) ?? [];
    const generation = Number(at);
    const isOwn = name === own && generation >= since && generation <= upTo;
    if (isOwn) last = Math.max(last, generation);
    if (isOwn || (name === other && generation === before?.generation)) lines.add(hash);
  };
  for (const each of before ? [inbox, before.name] : [inbox])
    for (const {id} of parseRejected(textOf(disk, rejectedPath(`inbox/${each}`))).entries) find(id);
  await eachDelivery(disk, find);
  return {lines, last};
}

/** Where lines of an inbox stood that are in sessions or set aside, `OFFSET:HASH`, by generation. It costs the same. */
export async function placesDelivered(disk: Disk, inbox: string): Promise<Map<number, Set<string>>> {
  const places = new Map<number, Set<string>>();
  const own = plainName(inbox);
  const find = (id: string) => {
    const [, name, at, place = ''] = /^inbox\/(.+)@(\d+):(\d+:[0-9a-f]{12})$/.exec(id) ?? [];
    if (name === own) places.set(Number(at), (places.get(Number(at)) ?? new Set()).add(place));
  };
  for (const {id} of parseRejected(textOf(disk, rejectedPath(`inbox/${inbox}`))).entries) find(id);
  await eachDelivery(disk, find);
  return places;
}

/**
 * How far a file is delivered whose cursor is lost, first as this generation: a daemon that found no cursor either went on with it as the next
 * one. Undefined: nothing of it as this one.
 */
export async function deliveredUpTo(
  file: OpenInbox,
  places: ReadonlyMap<number, ReadonlySet<string>>,
  first: number,
): Promise<Position | undefined> {
  let [generation, line, offset, count] = [first, 0, 0, 0];
  for (let chunk = await readLines(file, 0, {holes: true}); ; chunk = await readLines(file, chunk.end, {holes: true})) {
    for (const {start, length, bytes} of chunk.lines) {
      const place = `${start}:${shortHash(bytes)}`;
      if (!places.get(generation)?.has(place) && places.get(generation + 1)?.has(place)) generation++;
      const isDelivered = places.get(generation)?.has(place) === true;
      if (!isDelivered && !isNoNews(bytes)) return end();
      [line, offset, count] = [line + 1, start + length, count + Number(isDelivered)];
    }
    if (!chunk.more || chunk.lines.length === 0) return end();
    await file.clock.nextTurn();
  }
  function end(): Position | undefined {
    return count === 0 ? undefined : {inode: file.inode, generation, offset, line, ...marksOf(file.file, offset)};
  }
}

/** An empty line, or one that tells what was sent. */
function isNoNews(bytes: Buffer): boolean {
  return bytes.toString().trim() === '' || bytes.includes('"direction":"out"');
}

/** All that sessions have by a key. It costs the same. */
export async function keysDelivered(disk: Disk): Promise<Set<string>> {
  const keys = new Set<string>();
  await eachDelivery(disk, id => {
    if (id.startsWith(KEYED)) keys.add(id);
  });
  return keys;
}

async function eachDelivery(disk: Disk, find: (id: string) => void): Promise<void> {
  let slice = disk.clock.monotonic();
  for (const path of listFolder(disk, 'sessions')) {
    for (const id of deliveriesIn(textOf(disk, path))) find(id);
    if (disk.clock.monotonic() - slice < SLICE_MS) continue;
    await disk.clock.nextTurn();
    slice = disk.clock.monotonic();
  }
}

function textOf(disk: Disk, path: string): string {
  try {
    return disk.read(path).toString();
  } catch {
    return '';
  }
}
