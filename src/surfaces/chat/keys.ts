/** A key, text that was typed, or text that was pasted. */
export type KeyEvent = {key: string} | {text: string} | {paste: string};

const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
/** Terminals split what was pasted into several chunks. */
const PASTE_GAP_MS = 50;

/** Sequences of xterm, tmux, the Linux console and the kitty protocol. */
const SEQUENCES: Readonly<Record<string, string>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  '[H': 'home',
  '[F': 'end',
  OH: 'home',
  OF: 'end',
  '[1~': 'home',
  '[7~': 'home',
  '[4~': 'end',
  '[8~': 'end',
  '[3~': 'delete',
  '[5~': 'pageup',
  '[6~': 'pagedown',
  '[Z': 'shift-tab',
  '[1;5C': 'word-right',
  '[1;5D': 'word-left',
  '[1;3C': 'word-right',
  '[1;3D': 'word-left',
  '[13;2u': 'newline',
  '[13;3u': 'newline',
  '[13;5u': 'newline',
  '[27;2;13~': 'newline',
  '\r': 'newline',
  '\n': 'newline',
  b: 'word-left',
  f: 'word-right',
  d: 'kill-word-right',
  '\u007f': 'kill-word',
};

const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u001b': 'esc',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are made of them
const ESCAPE = /^\u001b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|O[@-~]|[^[O\u001b])/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are made of them
const TEXT = /^[^\0-\x1f\x7f]+/;

/** A line and its Enter in one piece: typed by a program or over a slow line, or the first of several that were pasted. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are made of them
const TYPED_LINE = /^[^\0-\x1f\x7f]+[\r\n]$/;

/** Turns what a terminal sends into keys. A pasted text is one event, however many chunks it comes in, and never a key. */
export class KeyDecoder {
  #pending = '';
  #paste: string | undefined;
  #lastPaste = Number.NEGATIVE_INFINITY;
  /** A line came in one piece: its Enter counts if no other line follows. */
  #hasEnter = false;

  /** Whether an escape sequence has begun, which is the Esc key if nothing follows; or an Enter waits in the same way. */
  get isPending(): boolean {
    return this.#paste === undefined && (this.#pending !== '' || this.#hasEnter);
  }

  push(chunk: string, now = performance.now()): KeyEvent[] {
    let rest = this.#pending + chunk;
    this.#pending = '';
    const events: KeyEvent[] = [];
    if (this.#hasEnter) {
      this.#hasEnter = false;
      this.#lastPaste = now;
      events.push({paste: '\n'});
    }
    if (this.#paste === undefined && isUnmarkedPaste(rest, now - this.#lastPaste < PASTE_GAP_MS)) {
      this.#lastPaste = now;
      return [...events, {paste: withNewlines(rest)}];
    }
    if (this.#paste === undefined && TYPED_LINE.test(rest)) {
      this.#hasEnter = true;
      return [...events, {text: rest.slice(0, -1)}];
    }
    while (rest !== '') {
      if (this.#paste !== undefined) {
        const end = rest.indexOf(PASTE_END);
        if (end === -1) {
          // The end mark may be cut in two.
          const kept = cutMark(rest);
          this.#paste += rest.slice(0, rest.length - kept);
          this.#pending = rest.slice(rest.length - kept);
          return events;
        }
        events.push({paste: withNewlines(this.#paste + rest.slice(0, end))});
        this.#paste = undefined;
        rest = rest.slice(end + PASTE_END.length);
        continue;
      }
      if (rest.startsWith(PASTE_START)) {
        this.#paste = '';
        rest = rest.slice(PASTE_START.length);
        continue;
      }
      const [length, event] = nextKey(rest);
      if (length === 0) {
        this.#pending = rest;
        return events;
      }
      if (event) events.push(event);
      rest = rest.slice(length);
    }
    return events;
  }

  /** Nothing followed an escape: it was the Esc key. Or a line: its Enter was meant. */
  flush(): KeyEvent[] {
    if (!this.isPending) return [];
    if (this.#hasEnter) {
      this.#hasEnter = false;
      return [{key: 'enter'}];
    }
    const rest = this.#pending.slice(1);
    this.#pending = '';
    return [{key: 'esc'}, ...(rest === '' ? [] : this.push(rest))];
  }
}

/** How much of the text the next key takes, 0 if it is not complete yet. */
function nextKey(rest: string): [length: number, event: KeyEvent | undefined] {
  const [text] = TEXT.exec(rest) ?? [];
  if (text !== undefined) return [text.length, {text}];
  const first = rest[0] ?? '';
  if (first === '\u001b') {
    if (rest[1] === '\u001b') return [1, {key: 'esc'}];
    const [sequence] = ESCAPE.exec(rest) ?? [];
    if (sequence === undefined) return [0, undefined];
    const key = SEQUENCES[sequence.slice(1)];
    return [sequence.length, key === undefined ? undefined : {key}];
  }
  // Ctrl+J alone adds a line.
  if (first === '\n') return [1, {key: 'newline'}];
  return [1, {key: CONTROLS[first] ?? `ctrl-${String.fromCharCode(first.charCodeAt(0) + 96)}`}];
}

/** Several lines at once are pasted, also where the terminal does not mark it: nobody types that fast. */
function isUnmarkedPaste(text: string, isAfterPaste: boolean): boolean {
  if (text.includes('\u001b')) return false;
  const lines = text.replace(/\r\n?|\n/g, '\n');
  const first = lines.indexOf('\n');
  if (first === -1) return false;
  if (isAfterPaste) return true;
  return first < lines.length - 1 && lines.length > 2;
}

function withNewlines(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

function cutMark(text: string): number {
  for (let length = Math.min(PASTE_END.length - 1, text.length); length > 0; length--)
    if (PASTE_END.startsWith(text.slice(-length))) return length;
  return 0;
}
