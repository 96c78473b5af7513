import {StringDecoder} from 'node:string_decoder';
import type {RedactedStream} from '../../policy/redact.ts';
import {OUTPUT_FOLDER} from '../workspace/changed-files.ts';
import {type NewFile, newFile} from '../workspace/new-file.ts';
import {errorCode, isFailure} from './failure.ts';
import type {ToolContext} from './tool.ts';

/** So much of each stream is in the result itself. */
const MOST_SHOWN = 16 * 1024;
const HALF = MOST_SHOWN / 2;

/**
 * What a command prints on one stream: its beginning and end for the result, and if there is more, all of it in a file
 * of the workspace. Secrets are taken out before anything is kept.
 */
export class CommandOutput {
  readonly #context: ToolContext;
  readonly #name: string;
  readonly #decoder = new StringDecoder('utf8');
  readonly #redacted: RedactedStream;
  #head = '';
  #tail = '';
  #length = 0;
  #file: NewFile | undefined;
  #lost: string | undefined;

  constructor(context: ToolContext, stream: 'stdout' | 'stderr') {
    this.#context = context;
    this.#name = `${safe(context.session)}.${safe(context.call)}.${stream}.txt`;
    this.#redacted = context.redact.stream();
  }

  add(chunk: Buffer): void {
    this.#keep(this.#redacted.push(this.#decoder.write(chunk)));
  }

  /** What the result has of it, and the file with the whole, if that is more. */
  end(): {text: string; file?: string} {
    this.#keep(this.#redacted.push(this.#decoder.end()) + this.#redacted.end());
    this.#file?.close();
    if (this.#length <= MOST_SHOWN) return {text: this.#head};
    const head = whole(this.#head.slice(0, HALF));
    const tail = whole(this.#tail.slice(-HALF));
    const missing = this.#length - head.length - tail.length;
    const where = this.#lost ?? `the whole is in ${this.#file?.path}`;
    const text = `${head}\n… ${missing} characters left out; ${where} …\n${tail}`;
    return this.#file && this.#lost === undefined ? {text, file: this.#file.path} : {text};
  }

  #keep(text: string): void {
    if (text === '') return;
    this.#length += text.length;
    if (this.#length <= MOST_SHOWN) {
      this.#head += text;
      return;
    }
    this.#spill(text);
    if (this.#tail === '') this.#tail = this.#head;
    this.#tail = `${this.#tail}${text}`.slice(-MOST_SHOWN);
    if (this.#head.length < HALF) this.#head = `${this.#head}${text.slice(0, HALF)}`;
  }

  #spill(text: string): void {
    if (this.#lost !== undefined) return;
    try {
      if (!this.#file) {
        const made = newFile(this.#context, OUTPUT_FOLDER, this.#name);
        if (isFailure(made)) {
          this.#lost = `the whole could not be kept: ${made.error}`;
          return;
        }
        this.#file = made;
        made.write(this.#head);
      }
      this.#file.write(text);
    } catch (error) {
      this.#lost = `the whole could not be kept: ${errorCode(error) ?? (error as Error).message}`;
    }
  }
}

function safe(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 80);
}

/** Without half a character at either end. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
