import {StringDecoder} from 'node:string_decoder';
import type {RedactedStream} from '../../policy/redact/redact.ts';
import {errorCode, isFailure} from '../tool/failure.ts';
import type {ToolContext} from '../tool/tool.ts';
import {OUTPUT_FOLDER, UNTRUSTED_FOLDER} from '../workspace/changed-files.ts';
import {type NewFile, newFile} from '../workspace/new-file.ts';
import {makeOutputRoom} from '../workspace/output-room.ts';
import {outputName} from './untrusted-output.ts';

/** Characters of each stream in the result itself. */
const MOST_SHOWN = 16 * 1024;

/**
 * Output of a command on one stream, or a fetched page. Keeps beginning and end for the result; if there is more,
 * writes all of it to a file in the workspace. Secrets are redacted before anything is kept.
 */
export class CommandOutput {
  readonly #context: ToolContext;
  readonly #folder: string;
  readonly #name: string;
  readonly #decoder = new StringDecoder('utf8');
  readonly #redacted: RedactedStream;
  readonly #most: number;
  #head = '';
  #tail = '';
  #length = 0;
  #file: NewFile | undefined;
  /** Bytes that the file may still get. */
  #room = 0;
  /** Why the file does not have the whole output. */
  #lost: string | undefined;
  #hasFailed = false;

  constructor(
    context: ToolContext,
    stream: 'stdout' | 'stderr' | 'page',
    {untrusted, most = MOST_SHOWN}: {untrusted: boolean; most?: number},
  ) {
    this.#context = context;
    this.#folder = untrusted ? UNTRUSTED_FOLDER : OUTPUT_FOLDER;
    this.#name = outputName(context.session, context.call, stream);
    this.#most = most;
    this.#redacted = context.redact.stream();
  }

  add(chunk: Buffer): void {
    this.#keep(this.#redacted.push(this.#decoder.write(chunk)));
  }

  /** Text for the result, and the file with the whole output if that is longer. */
  end(): {text: string; file?: string} {
    this.#keep(this.#redacted.push(this.#decoder.end()) + this.#redacted.end());
    this.#file?.close();
    if (this.#length <= this.#most) return {text: this.#head};
    const half = this.#most / 2;
    const head = whole(this.#head.slice(0, half));
    const tail = whole(this.#tail.slice(-half));
    const missing = this.#length - head.length - tail.length;
    const where = this.#lost ?? `the whole is in ${this.#file?.path}`;
    const text = `${head}\n… ${missing} characters left out; ${where} …\n${tail}`;
    return this.#file && !this.#hasFailed ? {text, file: this.#file.path} : {text};
  }

  #keep(text: string): void {
    if (text === '') return;
    this.#length += text.length;
    if (this.#length <= this.#most) {
      this.#head += text;
      return;
    }
    this.#spill(text);
    if (this.#tail === '') this.#tail = this.#head;
    this.#tail = `${this.#tail}${text}`.slice(-this.#most);
    if (this.#head.length < this.#most / 2) this.#head = `${this.#head}${text.slice(0, this.#most / 2)}`;
  }

  #spill(text: string): void {
    if (this.#lost !== undefined) return;
    try {
      if (!this.#file) {
        this.#room = makeOutputRoom(this.#context, this.#folder);
        if (this.#room <= 0) {
          this.#lost = `the whole was not kept: ${this.#fullWords()}`;
          return;
        }
        const made = newFile(this.#context, this.#folder, this.#name);
        if (isFailure(made)) {
          this.#lost = `the whole could not be kept: ${made.error}`;
          return;
        }
        this.#file = made;
        this.#write(made, this.#head);
      }
      this.#write(this.#file, text);
    } catch (error) {
      this.#hasFailed = true;
      this.#lost = `the whole could not be kept: ${errorCode(error) ?? (error as Error).message}`;
    }
  }

  /** Write as much as there is room for. */
  #write(file: NewFile, text: string): void {
    if (this.#lost !== undefined) return;
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.#room) file.write(text);
    else {
      // The decoder leaves out a character that is not complete.
      file.write(new StringDecoder('utf8').write(Buffer.from(text).subarray(0, this.#room)));
      this.#lost = `only the beginning is in ${file.path}: ${this.#fullWords()}`;
    }
    this.#room -= bytes;
  }

  #fullWords(): string {
    const stay = this.#context.outputs?.keepsOld ? ', and its files stay while a request of this agent is open' : '';
    return `${this.#folder}/ is full (limits.output_mb in agentdir.yaml)${stay}; remove files that are no longer needed`;
  }
}

/** Remove half a surrogate pair at either end. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
