import {mkdir, open, readFile, rename, rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {crc32} from 'node:zlib';
import {pace} from '../tool/pace.ts';
import {hashOf} from './file-index.ts';
import {searchFolder} from './index-disk.ts';

/** Vectors of passages by content hash; an unchanged passage keeps its vector. */
export interface Vectors {
  path: string;
  /** 0 while empty. */
  dims: number;
  /** Hash → position. */
  at: Map<string, number>;
  /** BLOCK vectors each. */
  blocks: Float32Array[];
}

const VERSION = 'agentdir vectors 1';
const BLOCK = 1024;
/** In memory; about the same on disk. */
const MOST_BYTES = 128 * 1024 * 1024;
const HASH_BYTES = 16;

const opened = new Map<string, Promise<Vectors>>();

/** Vectors of an embedder; read from disk once. */
export function vectorsOf(home: string, embedder: string): Promise<Vectors> {
  const path = join(searchFolder(home), `vectors-${hashOf(embedder).slice(0, 16)}.bin`);
  let vectors = opened.get(path);
  if (!vectors) {
    vectors = read(path);
    opened.set(path, vectors);
  }
  return vectors;
}

export function forgetVectors(home: string): void {
  for (const path of opened.keys()) if (path.startsWith(`${searchFolder(home)}/`)) opened.delete(path);
}

function vectorAt(vectors: Vectors, hash: string): Float32Array | undefined {
  const which = vectors.at.get(hash);
  if (which === undefined) return undefined;
  const at = (which % BLOCK) * vectors.dims;
  return vectors.blocks[Math.floor(which / BLOCK)]?.subarray(at, at + vectors.dims);
}

/** Dot product of a passage's vector and the query, which must have `dims` numbers. Undefined: no vector. */
export function nearness({at, blocks, dims}: Vectors, hash: string, query: Float32Array): number | undefined {
  const which = at.get(hash);
  const block = which === undefined ? undefined : blocks[Math.floor(which / BLOCK)];
  if (which === undefined || !block) return undefined;
  const from = (which % BLOCK) * dims;
  let product = 0;
  for (let i = 0; i < dims; i++) product += (query[i] as number) * (block[from + i] as number);
  return product;
}

/** False: the dimensions differ from those of the existing vectors. */
export async function addVectors(
  vectors: Vectors,
  added: readonly {hash: string; vector: Float32Array}[],
): Promise<boolean> {
  if (vectors.dims === 0) vectors.dims = added[0]?.vector.length ?? 0;
  if (added.some(({vector}) => vector.length !== vectors.dims)) return false;
  const fresh = [...new Map(added.map(one => [one.hash, one])).values()].filter(({hash}) => !vectors.at.has(hash));
  for (const {hash, vector} of fresh) put(vectors, hash, vector);
  await mkdir(dirname(vectors.path), {recursive: true, mode: 0o700});
  const file = await open(vectors.path, 'a', 0o600);
  try {
    const {size} = await file.stat();
    const whole = size === 0 ? 0 : (size - headOf(vectors.dims).length) % recordBytes(vectors.dims);
    // Remove a partial record at the end, so that new records start at a record boundary.
    if (whole !== 0) await file.truncate(size - whole);
    const records = fresh.map(({hash, vector}) => record(hash, vector));
    await file.appendFile(Buffer.concat(size === 0 ? [headOf(vectors.dims), ...records] : records));
  } finally {
    await file.close();
  }
  return true;
}

export function isFull({dims, at}: Vectors): boolean {
  return at.size * dims * 4 >= MOST_BYTES;
}

/** Drop all vectors but those of `wanted`, in memory and on disk. */
export async function keepOnly(vectors: Vectors, wanted: Iterable<string>): Promise<void> {
  const kept: {hash: string; vector: Float32Array}[] = [];
  for (const hash of new Set(wanted)) {
    const vector = vectorAt(vectors, hash)?.slice();
    if (vector) kept.push({hash, vector});
  }
  vectors.at = new Map();
  vectors.blocks = [];
  const temporary = {...vectors, path: `${vectors.path}.tmp`};
  await rm(temporary.path, {force: true});
  if (kept.length > 0) await addVectors(temporary, kept);
  await (kept.length > 0 ? rename(temporary.path, vectors.path) : rm(vectors.path, {force: true}));
}

/** Drop all vectors: the embedder changed its model but not its name. */
export async function startOver(vectors: Vectors): Promise<void> {
  const gone = keepOnly(vectors, []);
  // Reset before awaiting: others may add vectors while the file is being removed.
  vectors.dims = 0;
  await gone;
}

function put(vectors: Vectors, hash: string, vector: Float32Array): void {
  if (vectors.at.has(hash)) return;
  const which = vectors.at.size;
  const block = Math.floor(which / BLOCK);
  vectors.blocks[block] ??= new Float32Array(BLOCK * vectors.dims);
  vectors.blocks[block]?.set(vector, (which % BLOCK) * vectors.dims);
  vectors.at.set(hash, which);
}

const headOf = (dims: number) => Buffer.from(`${VERSION} ${dims}\n`);
const recordBytes = (dims: number) => HASH_BYTES + dims * 4 + 4;

function record(hash: string, vector: Float32Array): Buffer {
  const body = Buffer.concat([
    Buffer.from(hash, 'hex'),
    Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
  ]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(body));
  return Buffer.concat([body, sum]);
}

/** Skip damaged records; their passages are embedded again. */
async function read(path: string): Promise<Vectors> {
  const vectors: Vectors = {path, dims: 0, at: new Map(), blocks: []};
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  const end = bytes.indexOf(10) + 1;
  const dims = Number(
    /^agentdir vectors 1 (\d{1,4})\n$/.exec(bytes.toString('latin1', 0, Math.min(end, 64)))?.[1] ?? 0,
  );
  if (dims === 0) {
    await rm(path, {force: true}).catch(() => {});
    return vectors;
  }
  vectors.dims = dims;
  const breathe = pace();
  const size = recordBytes(dims);
  for (let at = end; at + size <= bytes.length && !isFull(vectors); at += size) {
    const body = bytes.subarray(at, at + size - 4);
    if (crc32(body) === bytes.readUInt32LE(at + size - 4)) {
      // Copy: a Float32Array must start at a multiple of four.
      const floats = new Float32Array(Uint8Array.from(body.subarray(HASH_BYTES)).buffer);
      put(vectors, body.toString('hex', 0, HASH_BYTES), floats);
    }
    await breathe();
  }
  return vectors;
}
