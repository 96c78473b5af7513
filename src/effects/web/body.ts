import type {IncomingMessage} from 'node:http';
import {pipeline, type Readable} from 'node:stream';
import {createBrotliDecompress, createUnzip} from 'node:zlib';
import {failure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';

export interface ResponseBody {
  bytes: Buffer;
  cut: boolean;
}

const decoders = {
  gzip: createUnzip,
  'x-gzip': createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
} as const;

/** Read and decompress the body, up to `most` bytes. Throws system errors. */
export async function readResponseBody(answer: IncomingMessage, most: number): Promise<ResponseBody | ToolFailure> {
  const coding = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const stream = decoded(answer, coding, most);
  if (!stream) {
    answer.destroy();
    return failure('FAILED', `the answer is encoded as ${JSON.stringify(coding.slice(0, 60))}, which is not read`);
  }
  const chunks: Buffer[] = [];
  let left = most;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
      if (left < 0) break;
    }
  } finally {
    answer.destroy();
  }
  return {bytes: Buffer.concat(chunks), cut: left < 0};
}

/** Decompress on demand only, so that a zip bomb takes little memory. */
function decoded(answer: IncomingMessage, coding: string, most: number): Readable | undefined {
  if (coding === 'identity' || coding === '') return answer;
  if (!Object.hasOwn(decoders, coding)) return undefined;
  const decoder = decoders[coding as keyof typeof decoders]();
  // Limit compressed data that decompresses to nothing.
  let received = 0;
  answer.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > 2 * most) answer.destroy(new Error('the answer is larger compressed than it is without'));
  });
  return pipeline(answer, decoder, () => {});
}
