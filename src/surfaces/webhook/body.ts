import type {IncomingMessage} from 'node:http';

export type RequestBody = {bytes: Buffer} | {status: 400 | 408 | 413 | 415; why: string};

/** Read this much beyond the limit: a client that is cut off while sending never sees the answer. */
const LEFT_OVER = 64 * 1024 * 1024;

/** Reads the raw body, limited in size and time. */
export function readRequestBody(incoming: IncomingMessage, most: number, ms: number): Promise<RequestBody> {
  const tooLong = {status: 413, why: `it is longer than ${most} bytes`} as const;
  const encoding = incoming.headers['content-encoding']?.toLowerCase() ?? 'identity';
  const encoded = {status: 415, why: 'it is compressed, which no sender of these does'} as const;
  return new Promise(resolve => {
    const chunks: Buffer[] = [];
    let length = 0;
    let refused: RequestBody | undefined = encoding === 'identity' ? undefined : encoded;
    const end = (body: RequestBody) => {
      clearTimeout(timer);
      incoming.off('data', take).off('end', done).off('error', broken).off('close', broken);
      incoming.pause();
      resolve(body);
    };
    const take = (chunk: Buffer) => {
      length += chunk.length;
      if (length > most) refused ??= tooLong;
      if (refused) chunks.length = 0;
      else chunks.push(chunk);
      if (length > LEFT_OVER) end(tooLong);
    };
    const done = () => end(refused ?? {bytes: Buffer.concat(chunks)});
    const broken = () => end(refused ?? {status: 400, why: 'it ended before it was all there'});
    const late = {status: 408, why: `it was not there after ${ms / 1000} s`} as const;
    const timer = setTimeout(() => end(refused ?? late), ms);
    incoming.on('data', take).once('end', done).once('error', broken).once('close', broken);
  });
}
