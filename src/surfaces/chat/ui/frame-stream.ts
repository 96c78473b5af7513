import {EventEmitter} from 'node:events';

const BEGIN = '\u001b[?2026h';
const END = '\u001b[?2026l';

/**
 * The output stream that ink draws to. Each frame reaches the terminal as one write, so nobody sees half a frame. ink is not told about
 * resizes and believes the screen is higher than any view; else it would clear the scrollback.
 */
export class FrameStream extends EventEmitter {
  readonly isTTY = true;
  readonly rows = Number.MAX_SAFE_INTEGER;
  columns: number;
  readonly #terminal: NodeJS.WriteStream;
  #frame = '';

  constructor(terminal: NodeJS.WriteStream, columns: number) {
    super();
    this.#terminal = terminal;
    this.columns = columns;
  }

  write(text: string): boolean {
    this.#frame += text;
    return true;
  }

  flush(): void {
    // ink marks the parts of a frame, too.
    const frame = this.#frame.replaceAll(BEGIN, '').replaceAll(END, '');
    this.#frame = '';
    if (frame !== '') this.#terminal.write(BEGIN + frame + END);
  }

  /** Whether the terminal reads slower than frames come. */
  get isBehind(): boolean {
    return this.#terminal.writableNeedDrain;
  }
}
