import {request as http} from 'node:http';
import {request as https} from 'node:https';
import {withoutKey} from '../../policy/redact/redact-server-error.ts';
import {type Embedder, type EmbedFailure, unitVectors} from './embedder.ts';

const BATCH = 32;
const TIMEOUT_MS = 30_000;
const LARGEST_ANSWER = 32 * 1024 * 1024;

export function serverEmbedder(baseUrl: string, model: string, apiKey: string | undefined): Embedder {
  const url = `${baseUrl.replace(/\/+$/, '')}/embeddings`;
  return {
    name: `${url} ${model}`,
    batch: BATCH,
    async embed(texts, signal) {
      try {
        const answer = await post(url, {model, input: texts}, apiKey, signal);
        return 'failed' in answer ? answer : read(answer.text, texts.length);
      } catch (error) {
        const {name, message} = error as Error;
        return {failed: name === 'TimeoutError' || name === 'AbortError' ? 'it did not answer in time' : message};
      }
    },
  };
}

function read(text: string, count: number): Float32Array[] | EmbedFailure {
  let data: unknown;
  try {
    data = (JSON.parse(text) as {data?: unknown} | null)?.data;
  } catch {
    return {failed: 'its answer is not JSON'};
  }
  if (!Array.isArray(data)) return {failed: 'its answer has no "data"'};
  const rows = data as ({index?: unknown; embedding?: unknown} | null)[];
  const ordered = rows.map((row, i) => ({at: typeof row?.index === 'number' ? row.index : i, row}));
  ordered.sort((a, b) => a.at - b.at);
  return unitVectors(
    ordered.map(({row}) => row?.embedding),
    count,
  );
}

/** Not `fetch`, which would keep the daemon alive until the answer arrives. Redirects are not followed. */
function post(
  url: string,
  body: object,
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<{text: string} | EmbedFailure> {
  const bytes = Buffer.from(JSON.stringify(body));
  const {promise, resolve, reject} = withResolvers<{text: string} | EmbedFailure>();
  const asked = (url.startsWith('https:') ? https : http)(url, {
    method: 'POST',
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    headers: {
      'content-type': 'application/json',
      'content-length': bytes.length,
      ...(apiKey !== undefined && {authorization: `Bearer ${apiKey}`}),
    },
  });
  asked.on('socket', socket => socket.unref());
  asked.on('error', reject);
  asked.on('response', response => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST_ANSWER) asked.destroy(new Error('its answer is too long'));
      else chunks.push(chunk);
    });
    response.on('error', reject);
    response.on('end', () => {
      const {statusCode = 0} = response;
      const text = Buffer.concat(chunks).toString();
      if (statusCode === 200) return resolve({text});
      // The key is redacted first: half a key is still a secret.
      const excerpt = withoutKey(text.slice(0, 10_000), apiKey).replace(/\s+/g, ' ').slice(0, 200);
      const input = statusCode === 400 || statusCode === 413 || statusCode === 422 || statusCode === 500;
      resolve({failed: `it answered ${statusCode}${excerpt === '' ? '' : `: ${excerpt}`}`, input});
    });
  });
  asked.end(bytes);
  return promise;
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return {promise, resolve, reject};
}
