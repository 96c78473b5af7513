import {makeVisible} from '../../formats/common/visible.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import type {LiveEvent} from '../../home/live.ts';
import {note, shortCall} from '../terminal/output.ts';
import {textWidth} from '../terminal/table.ts';

/** Shows an answer, streamed or complete. */
export interface AnswerScreen {
  /** `answers`: the number of answers in the session file so far. */
  live: (event: LiveEvent, answers: number) => void;
  /** Called once for each reply in the session file. */
  reply: (message: Message) => void;
  /** Called after the last reply. */
  finish: (answer: string | undefined) => void;
}

/** For programs: only the answer on stdout, without control characters; calls on stderr. */
export function plainScreen(write: (text: string) => void): AnswerScreen {
  return {
    live: event => {
      if (event.event === 'retry') tellRetry(event);
    },
    reply: tellCalls,
    finish: answer => {
      if (answer !== undefined) write(makeVisible(answer.endsWith('\n') ? answer : `${answer}\n`, false));
    },
  };
}

export interface Terminal {
  write: (text: string) => void;
  /** Undefined without a terminal: text cannot be erased. */
  size: () => {columns: number; rows: number} | undefined;
}

/**
 * Streams the answer. The session file is authoritative: live text that it does not confirm (a dropped turn, a broken
 * connection) is erased, and missing text is added.
 */
export function streamingScreen(terminal: Terminal): AnswerScreen {
  let turn: string | undefined;
  let shown = '';
  /** The first half of a split surrogate pair. */
  let half = '';
  /** Whether the turn has ended; the next may start before the file is written. */
  let ended = false;
  /** Texts of ended turns that are not in the file yet. */
  let unconfirmed: string[] = [];
  let calls: {name: string; args: string}[] = [];

  const visible = (text: string) => makeVisible(text, false);
  const add = (text: string) => {
    const all = half + text;
    half = /[\ud800-\udbff]$/.test(all) ? all.slice(-1) : '';
    const whole = half === '' ? all : all.slice(0, -1);
    shown += whole;
    terminal.write(visible(whole));
  };
  const seal = () => {
    if (shown !== '' && !shown.endsWith('\n')) terminal.write('\n');
    shown = '';
    half = '';
    turn = undefined;
    ended = false;
  };
  const takeBack = () => {
    const erased = erase(visible(shown), terminal.size());
    if (erased !== undefined) terminal.write(erased);
    else if (shown !== '') {
      terminal.write(shown.endsWith('\n') ? '' : '\n');
      note('(the text above was withdrawn)');
    }
    shown = '';
    half = '';
  };

  return {
    live: (event, answers) => {
      if (event.event === 'begin') {
        if (ended) {
          unconfirmed.push(shown);
          seal();
          for (const {name, args} of calls) tellCall(name, args);
        } else takeBack();
        calls = [];
        // Skip turns that are already answered; show missing replies first.
        turn = event.after?.answers === answers + unconfirmed.length ? event.turn : undefined;
      } else if (event.turn !== turn) return;
      else if (event.event === 'text') add(event.text);
      else if (event.event === 'call') calls.push(event);
      else if (event.event === 'retry') {
        takeBack();
        tellRetry(event);
      } else if (event.event === 'end' && event.how === 'answered') ended = true;
      else if (event.event === 'end') {
        takeBack();
        turn = undefined;
        if (event.how === 'dropped') note(`dropped: ${event.why ?? 'the conversation was changed'}; asked again`);
      }
    },
    reply: message => {
      const content = message.content ?? '';
      const before = unconfirmed.shift();
      if (before !== undefined && before === content) return;
      if (before !== undefined) {
        note('(the text above was withdrawn)');
        unconfirmed = [];
        takeBack();
      }
      if (!content.startsWith(shown)) takeBack();
      half = '';
      add(content.slice(shown.length));
      seal();
      tellCalls(message);
    },
    finish: answer => {
      if (answer === undefined) takeBack();
    },
  };
}

/** Escape codes that erase this text, if it is still on the screen. */
function erase(text: string, size: {columns: number; rows: number} | undefined): string | undefined {
  if (text === '') return '';
  if (!size) return undefined;
  const above = text.split('\n').reduce((sum, line) => sum + rowsOf(line, size.columns), -1);
  if (above >= size.rows) return undefined;
  return `\r${above > 0 ? `\u001b[${above}A` : ''}\u001b[J`;
}

/** Rows that a line takes; a wide character never fits the last column. */
function rowsOf(line: string, columns: number): number {
  let rows = 1;
  let column = 0;
  for (const char of line) {
    const width = char === '\t' ? 8 - (column % 8) : textWidth(char);
    if (column + width > columns) {
      rows++;
      column = 0;
    }
    column += width;
  }
  return rows;
}

function tellCalls({tool_calls = []}: Message): void {
  for (const call of tool_calls) tellCall(call.function.name, call.function.arguments);
}

function tellCall(name: string, args: string): void {
  note(`→ ${shortCall(name, args)}`);
}

function tellRetry({why, next}: {why: string; next: string}): void {
  note(`${why}; asked again at ${new Date(next).toTimeString().slice(0, 8)}`);
}
