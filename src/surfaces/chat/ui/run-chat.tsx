import {StringDecoder} from 'node:string_decoder';
import {render} from 'ink';
import type {ReactElement} from 'react';
import {Chat} from '../chat.ts';
import {ChatController} from '../chat-controller.ts';
import type {Entry} from '../entries.ts';
import {KeyDecoder} from '../keys.ts';
import type {Screen} from '../screen.ts';
import type {ChatServices} from '../services.ts';
import {App, type Scroll} from './app.tsx';
import {FrameStream} from './frame-stream.ts';
import {whenLaidOut} from './layout-engine.ts';

export interface TerminalStreams {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
}

/** After an escape, other bytes of a key come at once; and after an Enter, other lines of a pasted text. */
const KEY_MS = 30;
/** At most 50 frames a second. */
const FRAME_MS = 20;
/** Resizing comes in many small steps. */
const RESIZED_MS = 80;
/** Entries that can be drawn again. */
const KEPT = 200;

const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR = '\u001b[H\u001b[2J';

/** Chat on a terminal, until the person leaves. */
export async function runChat(services: ChatServices, {stdin, stdout}: TerminalStreams): Promise<void> {
  const chat = new Chat(services);
  const controller = new ChatController(chat, services);
  const size = () => ({columns: Math.max(20, stdout.columns || 80), rows: Math.max(6, stdout.rows || 24)});
  await whenLaidOut();
  const screen = new ChatScreen(controller, stdout, size);
  chat.onEntry = entry => screen.print(entry);
  chat.onChange = () => screen.draw();
  controller.onChange = () => screen.draw();
  controller.onRedraw = () => screen.redraw();

  const decoder = new KeyDecoder();
  const utf8 = new StringDecoder('utf8');
  let flush: NodeJS.Timeout | undefined;
  const feed = (chunk: Buffer | string) => {
    clearTimeout(flush);
    for (const event of decoder.push(typeof chunk === 'string' ? chunk : utf8.write(chunk))) controller.press(event);
    if (decoder.isPending)
      flush = setTimeout(() => {
        for (const event of decoder.flush()) controller.press(event);
      }, KEY_MS);
  };
  const raw = (isRaw: boolean) => {
    stdin.setRawMode?.(isRaw);
    stdout.write(isRaw ? PASTE_ON : PASTE_OFF + SHOW_CURSOR);
  };
  controller.onSuspend = () => {
    screen.clear();
    raw(false);
    // Returns when the shell lets this process go on.
    process.kill(process.pid, 'SIGTSTP');
    raw(true);
    screen.redraw();
  };
  raw(true);
  stdin.on('data', feed);
  stdin.resume();
  const onResize = () => screen.resize();
  stdout.on('resize', onResize);
  const restore = () => raw(false);
  process.once('exit', restore);
  try {
    await new Promise<void>((resolve, reject) => {
      controller.onLeave = resolve;
      stdin.once('end', resolve);
      for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
      // The first screen is drawn before anything large is read.
      setImmediate(() => chat.start().catch(reject));
    });
  } finally {
    stdout.off('resize', onResize);
    stdin.off('data', feed);
    stdin.pause();
    clearTimeout(flush);
    chat.close();
    screen.close();
    process.off('exit', restore);
    restore();
  }
}

const EMPTY: Screen = {lines: [''], cursor: {x: 0, y: 0}};

/** Draws the history once, and below it the part that changes, in frames. */
class ChatScreen {
  readonly #controller: ChatController;
  readonly #size: () => {columns: number; rows: number};
  readonly #frames: FrameStream;
  readonly #scroll: Scroll = {write: () => {}};
  readonly #ink: ReturnType<typeof render>;
  /** The last entries, to draw them again. */
  #entries: Entry[] = [];
  /** Lines that are not on the screen yet. */
  #news: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #drawn = performance.now();
  #resized: NodeJS.Timeout | undefined;

  constructor(controller: ChatController, stdout: NodeJS.WriteStream, size: () => {columns: number; rows: number}) {
    this.#controller = controller;
    this.#size = size;
    this.#frames = new FrameStream(stdout, size().columns);
    this.#ink = render(this.#app(), {
      // ink needs no more of a stream.
      stdout: this.#frames as unknown as NodeJS.WriteStream,
      ...{exitOnCtrlC: false, patchConsole: false, maxFps: 0},
    });
    this.#frames.flush();
  }

  print(entry: Entry): void {
    this.#entries = [...this.#entries.slice(1 - KEPT), entry];
    this.#news.push(...this.#linesOf(entry));
    this.draw();
  }

  /** Draws soon. */
  draw(): void {
    if (this.#resized) return;
    this.#timer ??= setTimeout(() => this.#frame(), Math.max(0, this.#drawn + FRAME_MS - performance.now()));
  }

  /** Lines of another width may have been broken by the terminal, so nothing is drawn until its size stays. */
  resize(): void {
    clearTimeout(this.#resized);
    this.#resized = setTimeout(() => this.redraw(), RESIZED_MS);
  }

  /** Draws the whole screen. What is above it stays. */
  redraw(): void {
    clearTimeout(this.#resized);
    this.#resized = undefined;
    const {columns, rows} = this.#size();
    this.#frames.columns = columns;
    const app = this.#app();
    const room = Math.max(0, rows - 1 - app.props.screen.lines.length);
    const lines = room === 0 ? [] : this.#entries.slice(-rows).flatMap(entry => this.#linesOf(entry));
    this.#news = [];
    // ink draws what it had below what is written here, and lines of another width would be broken.
    this.#ink.rerender(<App screen={EMPTY} scroll={this.#scroll} />);
    this.#scroll.write(
      CLEAR +
        lines
          .slice(-room)
          .map(line => `${line}\n`)
          .join(''),
    );
    this.#ink.rerender(app);
    this.#frames.flush();
  }

  /** Leaves the history alone on the screen: what comes next is printed below it. */
  clear(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#resized);
    [this.#timer, this.#resized] = [undefined, undefined];
    this.#paint(<App screen={EMPTY} scroll={this.#scroll} />);
  }

  close(): void {
    this.clear();
    this.#ink.unmount();
    this.#frames.flush();
  }

  #frame(): void {
    this.#timer = undefined;
    this.#drawn = performance.now();
    if (this.#frames.isBehind) {
      this.draw();
      return;
    }
    this.#paint(this.#app());
  }

  #paint(app: ReactElement): void {
    if (this.#news.length > 0) this.#scroll.write(`${this.#news.join('\n')}\n`);
    this.#news = [];
    this.#ink.rerender(app);
    this.#frames.flush();
  }

  #app() {
    const {columns, rows} = this.#size();
    return <App screen={this.#controller.screen(columns, rows)} scroll={this.#scroll} />;
  }

  #linesOf(entry: Entry): string[] {
    return entry(this.#size().columns).map(onlyColours);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get to the terminal
const OTHER_CONTROLS = /\u001b(?!\[[0-9;]*m)|[\0-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]/g;

/** The last of several guards: whatever a line holds, it only changes colours. */
function onlyColours(line: string): string {
  return line.replace(OTHER_CONTROLS, '');
}
