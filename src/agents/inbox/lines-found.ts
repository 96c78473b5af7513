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

/** The lines of a file up to `offset`. */
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
 * Lines of an inbox that were delivered or rejected, of generations `since` to `upTo` or under the former name `as`, and
 * the last generation among them. Slow: reads every session, in time slices.
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

/** Places (`OFFSET:HASH`) of delivered or rejected lines of an inbox, by generation. Slow: reads every session. */
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
 * How far a file without cursor was delivered, starting with generation `first`. A daemon that found no cursor may have
 * continued the file as the next generation. Undefined: none of its lines were delivered.
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
      if (!isDelivered && !isNotDelivered(bytes)) return end();
      [line, offset, count] = [line + 1, start + length, count + Number(isDelivered)];
    }
    if (!chunk.more || chunk.lines.length === 0) return end();
    await file.clock.nextTurn();
  }
  function end(): Position | undefined {
    return count === 0 ? undefined : {inode: file.inode, generation, offset, line, ...marksOf(file.file, offset)};
  }
}

/** Whether the line is empty or records an outgoing message. */
function isNotDelivered(bytes: Buffer): boolean {
  return bytes.toString().trim() === '' || bytes.includes('"direction":"out"');
}

/** All keyed deliveries in sessions. Slow: reads every session. */
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
