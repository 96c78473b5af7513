import {StringDecoder} from 'node:string_decoder';
import {render} from 'ink';
import {Chat} from '../chat.ts';
import {ChatController} from '../chat-controller.ts';
import type {Entry} from '../entries.ts';
import {KeyDecoder, withTypedEnter} from '../keys.ts';
import type {ChatServices} from '../services.ts';
import {App, type Printed, type Stage} from './app.tsx';
import {whenLaidOut} from './layout-engine.ts';

export interface TerminalStreams {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
}

/** After an escape, other bytes of a key come at once. */
const ESC_MS = 25;
/** Resizing comes in many small steps. */
const RESIZED_MS = 80;
/** Entries that can be drawn again. */
const KEPT = 200;

const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';

/** Chat on a terminal, until the person leaves. */
export async function runChat(services: ChatServices, {stdin, stdout}: TerminalStreams): Promise<void> {
  const chat = new Chat(services);
  const controller = new ChatController(chat, services);
  const size = () => ({columns: Math.max(20, stdout.columns || 80), rows: Math.max(6, stdout.rows || 24)});
  const draws = new Set<() => void>();
  const entries: Entry[] = [];
  const printed: Printed[] = [];
  const draw = () => {
    for (const each of draws) each();
  };
  const stage: Stage = {
    subscribe: each => {
      draws.add(each);
      return () => draws.delete(each);
    },
    printed: () => printed,
    screen: () => controller.screen(size().columns, size().rows),
  };
  const print = (entry: Entry) => {
    entries.push(entry);
    if (entries.length > KEPT) entries.shift();
    // What has been printed is not needed any more; ink counts the items.
    const old = printed[printed.length - KEPT];
    if (old) printed[printed.length - KEPT] = {key: old.key, lines: []};
    printed.push({key: printed.length, lines: entry(size().columns).map(onlyColours)});
  };
  chat.onEntry = entry => {
    print(entry);
    draw();
  };
  chat.onChange = draw;
  controller.onChange = draw;

  await whenLaidOut();
  const decoder = new KeyDecoder();
  const utf8 = new StringDecoder('utf8');
  let flush: NodeJS.Timeout | undefined;
  const feed = (chunk: Buffer | string) => {
    clearTimeout(flush);
    for (const event of withTypedEnter(decoder.push(typeof chunk === 'string' ? chunk : utf8.write(chunk))))
      controller.press(event);
    if (decoder.isPending)
      flush = setTimeout(() => {
        for (const event of decoder.flush()) controller.press(event);
      }, ESC_MS);
  };
  const raw = (isRaw: boolean) => {
    stdin.setRawMode?.(isRaw);
    stdout.write(isRaw ? PASTE_ON : PASTE_OFF);
  };
  raw(true);
  stdin.on('data', feed);
  stdin.resume();
  const instance = render(<App stage={stage} />, {
    ...{stdin, stdout, exitOnCtrlC: false, patchConsole: false, incrementalRendering: true, maxFps: 60},
  });
  let resized: NodeJS.Timeout | undefined;
  const onResize = () => {
    clearTimeout(resized);
    resized = setTimeout(() => redraw(), RESIZED_MS);
    draw();
  };
  /** Lines of another width may have been broken by the terminal: the visible part is drawn anew. */
  const redraw = () => {
    const {columns, rows} = size();
    const lines = entries.slice(-rows).flatMap(entry => entry(columns).map(onlyColours));
    instance.clear();
    stdout.write('\u001b[2J\u001b[H');
    printed.push({key: printed.length, lines: lines.slice(-rows)});
    draw();
  };
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
    clearTimeout(resized);
    stdout.off('resize', onResize);
    stdin.off('data', feed);
    stdin.pause();
    chat.close();
    instance.unmount();
    process.off('exit', restore);
    restore();
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get to the terminal
const OTHER_CONTROLS = /\u001b(?!\[[0-9;]*m)|[\0-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]/g;

/** The last of several guards: whatever a line holds, it only changes colours. */
function onlyColours(line: string): string {
  return line.replace(OTHER_CONTROLS, '');
}
