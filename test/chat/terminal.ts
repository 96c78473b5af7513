import {execFile} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {promisify} from 'node:util';
import {onTestFinished} from 'vitest';
import {environment, main, until} from '../cli/run.ts';
import {installed} from '../daemon/terminal.ts';

const run = promisify(execFile);

/** Tests that need a terminal are skipped without tmux, and say so. */
export const hasTmux = installed('tmux');
if (!hasTmux) console.warn('tmux is not installed: the tests of chat on a terminal are skipped');

export interface Size {
  columns: number;
  rows: number;
}

/** A program in a terminal of its own, as a person sees it. */
export interface Pane {
  /** The lines on the screen, without trailing spaces. */
  screen: () => Promise<string[]>;
  /** Everything that was shown, above the screen too. */
  history: () => Promise<string>;
  /** As `screen`, with the sequences for colours. */
  coloured: () => Promise<string>;
  cursor: () => Promise<{x: number; y: number}>;
  /** Types text as it is. */
  type: (text: string) => Promise<void>;
  /** Presses keys by tmux's names: `Enter`, `Escape`, `C-a`. */
  press: (...keys: string[]) => Promise<void>;
  /** Pastes as the terminal of a person does; unless `isMarked`, as one that does not tell the program that it is pasted. */
  paste: (text: string, isMarked?: boolean) => Promise<void>;
  resize: (size: Size) => Promise<void>;
  /** Until the screen shows this; the whole screen. */
  shows: (text: RegExp, ms?: number) => Promise<string>;
  /** Until the screen does not show this. */
  hides: (text: RegExp) => Promise<string>;
  pid: () => Promise<number>;
  title: () => Promise<string>;
  /** The exit code, once the program has ended. */
  ended: () => Promise<number>;
}

/** Terminals of one test, in a tmux server of their own, which ends with the test. */
export function terminals(): (command: string, size?: Size, env?: Record<string, string>) => Promise<Pane> {
  const socket = `agentdir-test-${process.pid}-${randomBytes(4).toString('hex')}`;
  const tmux = async (...args: string[]) =>
    (await run('tmux', ['-L', socket, '-f', '/dev/null', ...args], {env: {...environment, LC_ALL: 'C.UTF-8'}})).stdout;
  let count = 0;
  onTestFinished(async () => {
    await tmux('kill-server').catch(() => {});
  });
  return async (command, {columns, rows} = {columns: 80, rows: 24}, env = {}) => {
    const name = `t${count++}`;
    const set = Object.entries({...env, TERM: 'screen-256color'}).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
    const shape = ['-x', String(columns), '-y', String(rows)];
    // The size of a detached session stays as it is given.
    const first = count === 1 ? ['start-server', ';', 'set', '-g', 'remain-on-exit', 'on', ';'] : [];
    await tmux(...first, 'new-session', '-d', '-s', name, ...shape, ...set, command);
    return paneOf(tmux, name);
  };
}

function paneOf(tmux: (...args: string[]) => Promise<string>, name: string): Pane {
  const at = ['-t', `${name}:`];
  const screen = async () => (await tmux('capture-pane', '-p', ...at)).split('\n').map(line => line.trimEnd());
  const told = async (format: string) => (await tmux('display-message', '-p', ...at, format)).trimEnd();
  const wait = (holds: (text: string) => boolean, what: string, ms?: number) =>
    until(async () => (await screen()).join('\n'), holds, ms).catch((error: Error) => {
      throw new Error(`${what}\n${error.message.replaceAll('\\n', '\n')}`);
    });
  return {
    screen,
    history: () => tmux('capture-pane', '-p', '-J', '-S', '-', ...at),
    coloured: () => tmux('capture-pane', '-p', '-e', ...at),
    cursor: async () => {
      const [x = 0, y = 0] = (await told('#{cursor_x} #{cursor_y}')).split(' ').map(Number);
      return {x, y};
    },
    type: async text => void (await tmux('send-keys', ...at, '-l', '--', text)),
    press: async (...keys) => void (await tmux('send-keys', ...at, ...keys)),
    paste: async (text, isMarked = true) => {
      await tmux('set-buffer', '-b', name, '--', text);
      await tmux('paste-buffer', ...(isMarked ? ['-p'] : []), '-d', '-b', name, ...at);
    },
    resize: async size =>
      void (await tmux('resize-window', ...at, '-x', String(size.columns), '-y', String(size.rows))),
    shows: (text, ms) => wait(seen => text.test(seen), `waited for ${text}`, ms),
    hides: text => wait(seen => !text.test(seen), `waited until it is gone: ${text}`),
    pid: async () => Number(await told('#{pane_pid}')),
    title: () => told('#{pane_title}'),
    ended: async () => {
      const said = await until(
        () => told('#{pane_dead} #{pane_dead_status}'),
        text => text.startsWith('1'),
      );
      return Number(said.slice(2));
    },
  };
}

/** The command line of chat in a home. */
export function chatIn(home: string, ...options: string[]): string {
  const words = [process.execPath, main, '--home', home, 'chat', ...options];
  return `exec ${words.map(word => `'${word}'`).join(' ')}`;
}
