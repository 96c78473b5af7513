import {parentPort, Worker, workerData} from 'node:worker_threads';
import type {Markdown} from './html-markdown.ts';
import {visibleWords} from './html-shallow.ts';

const MARK = 'agentdir-html';
const MOST_MS = 20_000;
const MOST_MB = 384;

export interface HtmlText extends Markdown {
  /** `content` is plain words, not Markdown. */
  plain?: true;
}

interface Work {
  mark: typeof MARK;
  html: string;
  address: string;
}

/**
 * Convert a page to Markdown, or at least to plain words if that takes too much time or memory. Runs in a worker
 * thread, because some pages keep an HTML parser busy for minutes. Empty if aborted.
 */
export function readHtml(html: string, address: string, signal: AbortSignal, mostMs = MOST_MS): Promise<HtmlText> {
  // Node cannot load the TypeScript source in a worker: tests run the built file.
  const file = import.meta.url.replace(/\/src\/effects\/web\/html-thread\.ts$/, '/bin/chunks/html-thread.js');
  const work: Work = {mark: MARK, html, address};
  return new Promise(resolve => {
    const thread = new Worker(new URL(file), {
      workerData: work,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: {maxOldGenerationSizeMb: MOST_MB},
    });
    let made: HtmlText = {content: '', plain: true};
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      void thread.terminate();
      resolve(made);
    };
    const timer = setTimeout(end, mostMs);
    signal.addEventListener('abort', end);
    thread.on('message', (message: HtmlText) => {
      made = message;
      if (!message.plain) end();
    });
    thread.once('error', end);
    thread.once('exit', end);
  });
}

function isWork(value: unknown): value is Work {
  return typeof value === 'object' && value !== null && 'mark' in value && value.mark === MARK;
}

if (isWork(workerData)) {
  const {html, address} = workerData;
  parentPort?.postMessage({content: visibleWords(html), plain: true});
  void import('./html-markdown.ts').then(({markdownOf}) => parentPort?.postMessage(markdownOf(html, address)));
}
