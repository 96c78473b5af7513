import type {Place} from '../common/diagnostic.ts';

export class LineCursor {
  readonly text: string;
  line = 0;
  start = 0;
  /** End of the line without its line end; first non-blank character; its column. */
  end = 0;
  at = 0;
  column = 0;
  #next: number;

  constructor(text: string) {
    this.text = text;
    this.#next = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  /** Move to the next line; false at the end. */
  advance(): boolean {
    const {text} = this;
    const start = this.#next;
    if (start >= text.length) return false;
    const newline = text.indexOf('\n', start);
    this.#next = newline === -1 ? text.length : newline + 1;
    this.line++;
    this.start = start;
    this.end =
      newline === -1 ? text.length : newline > start && text.charCodeAt(newline - 1) === 13 ? newline - 1 : newline;
    this.#measure();
    return true;
  }

  #measure(): void {
    const {text, end} = this;
    let at = this.start;
    let column = 0;
    for (; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code === 32) column++;
      else if (code === 9) column += 4 - (column % 4);
      else break;
    }
    this.at = at;
    this.column = column;
  }

  place(offset: number): Place {
    return {line: this.line, column: offset - this.start + 1};
  }

  /** The line from its first non-blank character. */
  rest(): string {
    return this.text.slice(this.at, this.end);
  }
}
