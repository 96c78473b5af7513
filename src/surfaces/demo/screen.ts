import {setTimeout as pause} from 'node:timers/promises';
import {visibleLine} from '../../formats/common/visible.ts';
import {colors, plural, printWhole as print} from '../terminal/output.ts';
import {breakAt, cutToWidth, textWidth} from '../terminal/table.ts';
import type {Line} from './commits.ts';
import type {Ending, StoryStep, StoryTask, StoryTeller, Turn} from './teller.ts';

export interface ScreenOptions {
  paced: boolean;
  /** Terminal width. */
  width: number;
  /** The command name, or its path. */
  program: string;
  /** Whether an Enter here ticks a box. */
  hears: boolean;
  signal: AbortSignal;
}

const INDENT = '    ';
/** Rows shown of a new line; a removed line gets one row. */
const MOST_ROWS = 2;
/** Pauses after a line and after a thought. */
const LINE_MS = 60;
const THOUGHT_MS = 900;

/** For people. Nothing is wider than the terminal. */
export function screen({paced, width, program, hears, signal}: ScreenOptions): StoryTeller {
  const room = width - INDENT.length;
  let number = 0;
  const rest = async (ms: number) => {
    if (paced) await pause(ms, undefined, {signal});
  };
  const row = async (text: string, ms = LINE_MS) => {
    print(text === '' ? '' : `${INDENT}${text}`);
    await rest(ms);
  };
  const words = async (text: string, paint: (text: string) => string = String) => {
    for (const part of breakAt(text, room, true)) await row(paint(part.trimEnd()));
  };
  const heading = (text: string) => {
    for (const part of breakAt(text, width, true)) print(colors.bold(part.trimEnd()));
  };

  return {
    async begin(home) {
      heading('A question in Slack, answered by four agents. You tick two boxes.');
      print('');
      const facts: [string, string][] = [
        ['home', `${home}: files, git and a daemon, as usual`],
        ['agents', 'answer from a playbook, a script and not an AI: no key, no network'],
        ['docker', 'is a stand-in that always says "Up 2 hours"; so is Slack, on 127.0.0.1'],
      ];
      for (const [name, text] of facts) {
        const [first = '', ...others] = breakAt(visibleLine(text), room - 9, true);
        await row(`${colors.dim(name.padEnd(9))}${first.trimEnd()}`);
        for (const part of others) await row(' '.repeat(9) + part.trimEnd());
      }
      print('');
      await rest(THOUGHT_MS);
    },

    async showStep({title, path, lines, commit, author, more}: StoryStep) {
      const [first = '', ...others] = breakAt(title, room, true);
      print(colors.bold(`${String(++number).padStart(2)}  ${first.trimEnd()}`));
      for (const part of others) print(colors.bold(`${INDENT}${part.trimEnd()}`));
      await rest(THOUGHT_MS / 2);
      const by = commit === undefined ? '' : `  ${commit} by ${visibleLine(author ?? '')}`;
      await row(colors.cyan(path) + (textWidth(path + by) <= room ? colors.dim(by) : ''));
      for (const line of diffRows(lines, room)) await row(line);
      if (more !== undefined) await words(more, colors.dim);
      print('');
      await rest(THOUGHT_MS / 2);
    },

    async turn({box, of, id, file, line, auto}: Turn) {
      print(
        colors.yellow(
          colors.bold(`${INDENT}Your turn, box ${box} of ${of}.${auto ? ' (--auto ticks it for you.)' : ''}`),
        ),
      );
      await words(`In ${file}`);
      await words(`line ${line}, change [_] to [x], and save. [-] rejects it.`);
      if (!auto) {
        if (hears) await words('Or press Enter to tick it.');
        await words(`Or in another terminal: ${program} --home ${quoted(homeOf(file))} approve ${id}`);
        await words('Waiting for you. Ctrl-C ends the demo.', colors.dim);
      }
      print('');
      await rest(auto ? THOUGHT_MS : 0);
    },

    aside(text) {
      for (const part of breakAt(visibleLine(text), room, true)) print(`${INDENT}${colors.yellow(part.trimEnd())}`);
      print('');
    },

    async end({home, tasks, sent, commits, log}: Ending) {
      heading('The tasks at the end');
      for (const task of tasks) await taskRows(task, room, row);
      print('');
      heading('The answer in Slack');
      if (sent.length === 0) await words('Nothing was sent.');
      for (const {channel, text, thread} of sent)
        await words(`${visibleLine(channel)}${thread ? ', in the thread' : ''}: ${visibleLine(text)}`, colors.green);
      print('');
      heading(`git has ${plural(commits, 'commit')}. Those shown above, in git log --oneline --stat`);
      for (const line of log) await row(logRow(line, room), LINE_MS / 2);
      print('');
      heading('All files are kept. Look around:');
      await row(colors.cyan(`export AGENTDIR_HOME=${quoted(home)}`));
      await commandRows(program, room, row, [
        ['tasks', 'the tasks, and what each is waiting for'],
        ['log', 'every step, and who took it'],
        ['show slack', 'the session with the question'],
        ['verify', 'did anything run without approval?'],
        ['start', 'start the daemon, then edit any file'],
      ]);
      print('');
      heading('Create your own home:');
      await commandRows(program, room, row, [['init ~/agents', 'six agents, a policy, a git repository']]);
    },

    stopped(home) {
      print(`\n${INDENT}The demo was stopped, and its daemon with it. Its files are kept in\n${INDENT}${home}`);
    },
  };
}

function diffRows(lines: readonly Line[], room: number): string[] {
  const margin = Math.min(...lines.map(({text}) => /^ */.exec(text)?.[0].length ?? 0));
  return lines.flatMap(({sign, text}) => {
    const shown = visibleLine(text.slice(margin));
    const rows = wrap(shown, room - 2);
    const most = sign === '+' ? MOST_ROWS : 1;
    const kept = rows.slice(0, most).map(part => part.trimEnd());
    if (rows.length > most) kept.push(`${[...(kept.pop() ?? '')].slice(0, room - 3).join('')}…`);
    const paint = sign === '+' ? colors.green : colors.red;
    return kept.map((part, i) => paint(`${i === 0 ? sign : ' '} ${part}`));
  });
}

/** Also after a comma: JSON often has no spaces. */
function wrap(line: string, width: number): string[] {
  const rows: string[] = [];
  for (const piece of line.match(/[^ ,]*[ ,]*/g)?.flatMap(part => breakAt(part, width)) ?? []) {
    const last = rows.at(-1);
    if (last !== undefined && textWidth(last + piece.trimEnd()) <= width) rows[rows.length - 1] = last + piece;
    else rows.push(piece);
  }
  return rows;
}

async function taskRows(
  {box, depth, assignee, title, note}: StoryTask,
  room: number,
  row: (text: string) => Promise<void>,
): Promise<void> {
  const left = '  '.repeat(depth);
  const who = `@${visibleLine(assignee)}`.padEnd(16 - left.length);
  const mark = box === 'x' ? colors.green('[x]') : colors.yellow(`[${box}]`);
  await row(`${left}${mark} ${colors.cyan(who)} ${cutToWidth(visibleLine(title), room - 22)}`);
  if (note !== undefined) await row(colors.dim(`${' '.repeat(21)}${cutToWidth(visibleLine(note), room - 21)}`));
}

/** A commit, or a file that it changed, `path | 4 ++--`. */
function logRow(line: string, room: number): string {
  const [, path, marks] = /^ (.*\| +\d+ )([+-]*)$/.exec(line) ?? [];
  if (path === undefined) {
    const [commit = '', ...subject] = line.split(' ');
    return `${colors.yellow(commit)} ${cutToWidth(visibleLine(subject.join(' ')), room - commit.length - 1)}`;
  }
  const plus = marks?.replaceAll('-', '') ?? '';
  const minus = marks?.replaceAll('+', '') ?? '';
  return `  ${path}${colors.green(plus)}${colors.red(minus)}`;
}

/** Explanations are on separate lines, so that command lines can be pasted. */
async function commandRows(
  program: string,
  room: number,
  row: (text: string) => Promise<void>,
  commands: readonly (readonly [string, string])[],
): Promise<void> {
  for (const [command, why] of commands) {
    await row(colors.cyan(`${program} ${command}`));
    await row(colors.dim(`${INDENT}${cutToWidth(why, Math.max(1, room - INDENT.length))}`));
  }
}

function homeOf(file: string): string {
  return file.replace(/\/tasks\/[^/]+$/, '');
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
