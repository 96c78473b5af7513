import type {IncomingMessage} from 'node:http';

export type Body = {bytes: Buffer} | {status: 400 | 408 | 413; why: string};

/** The bytes as they came; no more than so many, and not for longer than so long. */
export function readBody(incoming: IncomingMessage, most: number, ms: number): Promise<Body> {
  const tooLong = {status: 413, why: `it is longer than ${most} bytes`} as const;
  if (Number(incoming.headers['content-length'] ?? 0) > most) return Promise.resolve(tooLong);
  if (incoming.headers['content-encoding'] !== undefined)
    return Promise.resolve({status: 400, why: 'it is compressed, which no sender of these does'});
  return new Promise(resolve => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (body: Body) => {
      clearTimeout(timer);
      incoming.off('data', take).off('end', done).off('error', broken).off('close', broken);
      incoming.pause();
      resolve(body);
    };
    const take = (chunk: Buffer) => {
      length += chunk.length;
      if (length > most) end(tooLong);
      else chunks.push(chunk);
    };
    const done = () => end({bytes: Buffer.concat(chunks)});
    const broken = () => end({status: 400, why: 'it ended before it was all there'});
    const timer = setTimeout(() => end({status: 408, why: `it was not there after ${ms / 1000} s`}), ms);
    incoming.on('data', take).once('end', done).once('error', broken).once('close', broken);
  });
}
