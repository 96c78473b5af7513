import {makeVisible} from '../../formats/common/visible.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import type {LiveEvent} from '../../home/live.ts';
import {note, shortCall} from '../terminal/output.ts';
import {textWidth} from '../terminal/table.ts';

/** Where an answer is shown: word by word as it comes, or only once it is known. */
export interface AnswerScreen {
  /** `answers`: how many the session file has, up to the last that was given. */
  live: (event: LiveEvent, answers: number) => void;
  /** A reply as it stands in the session file; each is given once. */
  reply: (message: Message) => void;
  /** All replies were given; the last one may be the answer. */
  finish: (answer: string | undefined) => void;
}

/** Exactly the answer, once, on stdout; calls on stderr. For whoever reads it by program. */
export function plainScreen(write: (text: string) => void): AnswerScreen {
  return {
    live: event => {
      if (event.event === 'retry') tellRetry(event);
    },
    reply: tellCalls,
    finish: answer => {
      if (answer !== undefined) write(answer.endsWith('\n') ? answer : `${answer}\n`);
    },
  };
}

export interface Terminal {
  write: (text: string) => void;
  /** Undefined: no terminal, what is written cannot be taken back. */
  size: () => {columns: number; rows: number} | undefined;
}

/**
 * Word by word. The session file has the last word: live text only comes before it. What the file does not confirm (the
 * turn was dropped, or the connection broke) is taken back; what the live output lacks is added.
 */
export function streamingScreen(terminal: Terminal): AnswerScreen {
  let turn: string | undefined;
  let shown = '';
  /** Half of a character that came in two parts. */
  let half = '';
  /** Whether the turn has ended; the next may begin before the file has it. */
  let ended = false;
  /** Texts of turns that have ended, which the file does not have yet. */
  let unconfirmed: string[] = [];
  /** Of the turn, for when the next begins before the file has them. */
  let calls: {name: string; args: string}[] = [];

  const visible = (text: string) => (terminal.size() ? makeVisible(text, false) : text);
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
        // One with fewer is answered already; before one with more comes something that was not shown yet.
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

/** What removes this text from a terminal, if it is still on the screen and nothing stands behind it. */
function erase(text: string, size: {columns: number; rows: number} | undefined): string | undefined {
  if (text === '') return '';
  if (!size) return undefined;
  const above = text.split('\n').reduce((sum, line) => sum + rowsOf(line, size.columns), -1);
  if (above >= size.rows) return undefined;
  return `\r${above > 0 ? `\u001b[${above}A` : ''}\u001b[J`;
}

/** How many rows of a terminal a line takes: a wide character never stands in the last column. */
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
