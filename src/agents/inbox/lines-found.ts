import {type Cursor, type Position, readAs} from '../../formats/cursor-file.ts';
import {KEYED, plainName, shortHash} from '../../formats/inbox-message.ts';
import {parseRejected} from '../../formats/rejected.ts';
import {deliveriesIn} from '../../formats/session/session-deliveries.ts';
import type {Disk} from '../../home/disk/disk.ts';
import {headOf, marksOf, type OpenInbox, readLines} from '../../home/inbox-lines.ts';
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

/** How far a file was delivered. */
export interface DeliveredFile {
  /** After the lines that were delivered without a gap, counted from the start. */
  position: Position;
  /** The file has every line that was delivered of its generation: nobody has edited it since. */
  isWhole: boolean;
}

/**
 * How far a file was delivered, as the generation that most of its lines were delivered as. Lines after a gap may be delivered too, if they
 * are for another agent. Undefined: none was delivered.
 */
export async function deliveredUpTo(
  file: OpenInbox,
  places: ReadonlyMap<number, ReadonlySet<string>>,
): Promise<DeliveredFile | undefined> {
  const found = new Map([...places.keys()].map(generation => [generation, {count: 0, line: 0, offset: 0, gap: false}]));
  let line = 0;
  for (let chunk = await readLines(file, 0, {holes: true}); ; chunk = await readLines(file, chunk.end, {holes: true})) {
    for (const {start, length, bytes} of chunk.lines) {
      line++;
      const place = `${start}:${shortHash(bytes)}`;
      for (const [generation, at] of found) {
        const isDelivered = places.get(generation)?.has(place) === true;
        if (isDelivered) at.count++;
        else if (!isNotDelivered(bytes)) at.gap = true;
        if (!at.gap) [at.line, at.offset] = [line, start + length];
      }
    }
    if (!chunk.more || chunk.lines.length === 0) break;
    await file.clock.nextTurn();
  }
  const [best] = [...found].sort(([, a], [, b]) => b.count - a.count);
  if (!best || best[1].count === 0) return undefined;
  const [generation, at] = best;
  const head = headOf(file, at.offset || file.size);
  const position = {
    inode: file.inode,
    generation,
    offset: at.offset,
    line: at.line,
    ...marksOf(file.file, at.offset),
    head,
  };
  return {position, isWhole: at.count === places.get(generation)?.size};
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
