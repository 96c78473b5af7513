import {visibleLine} from '../../formats/common/visible.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import {colors} from '../terminal/output.ts';
import {cutToWidth} from '../terminal/table.ts';
import type {LiveAnswer} from './conversation.ts';
import {type Editor, editorRows} from './editor.ts';
import {callTitle, GUTTER_WIDTH, gutter} from './entries.ts';
import {markdownLines} from './markdown.ts';
import {type Bar, barLines} from './status-bar.ts';

/** What the part of the screen that changes shows. */
export interface ScreenContent {
  columns: number;
  rows: number;
  bar: Bar;
  editor: Editor;
  /** Stands before the text of the prompt. */
  label: string;
  /** Shown while the prompt is empty. */
  placeholder: string;
  agent: string;
  live: LiveAnswer | undefined;
  open: readonly Call[];
  awaited: readonly {agent: string; status: string}[];
  /** Lines above the prompt that ask for something, the last of them which keys there are. */
  panel: readonly string[];
  /** A view in place of the answer under way, such as the dashboard. */
  overlay: ((height: number) => string[]) | undefined;
  /** Completions to choose from. */
  options: readonly string[];
  meter: string;
  hint: string;
}

export interface Screen {
  lines: string[];
  cursor: {x: number; y: number};
}

/** The prompt takes no more rows than this. */
const PROMPT_ROWS = 8;

/**
 * The part of the screen that changes, from the answer under way down to the status bar. It is always shorter than the screen, so that it
 * is drawn in place and nothing flickers; the history is above it.
 */
export function screenOf(content: ScreenContent): Screen {
  const {columns, rows} = content;
  const budget = Math.max(4, rows - 2);
  const bar = barLines(content.bar, columns);
  const label = cutToWidth(content.label, Math.max(2, Math.floor(columns / 3)));
  const indent = label.length + 1;
  const most = Math.max(1, Math.min(PROMPT_ROWS, budget - bar.length - 3));
  const prompt = editorRows(content.editor, Math.max(4, columns - indent - 1), most);
  const isEmpty = content.editor.text === '';
  const promptLines = prompt.rows.map((row, i) => {
    const start = i === 0 ? colors.green(label) : ' '.repeat(label.length);
    return `${start} ${isEmpty ? colors.dim(cutToWidth(content.placeholder, columns - indent - 1)) : row}`;
  });
  const meter = [content.hint, content.meter].filter(Boolean).join(' · ');
  const below = [
    ...(budget > bar.length + promptLines.length + 1 ? [colors.dim(cutToWidth(meter, columns))] : []),
    ...bar,
  ];
  // Parts the history from what changes, where there is room for it.
  const rule = budget >= promptLines.length + below.length + 6 ? [colors.dim('─'.repeat(columns))] : [];
  let room = budget - promptLines.length - below.length - rule.length;
  const options =
    content.options.length > 0 && room > 0 ? optionLines(content.options, columns).slice(0, Math.min(3, room)) : [];
  room -= options.length;
  const panel = fitted(content.panel, room, columns);
  room -= panel.length;
  const above = content.overlay ? content.overlay(room) : workLines(content, room);
  const lines = [...above, ...panel, ...options, ...rule, ...promptLines, ...below];
  return {
    lines,
    cursor: {x: indent + prompt.column, y: lines.length - below.length - promptLines.length + prompt.row},
  };
}

/** The last line says which keys there are: it stays, and so does it that there is more to read. */
function fitted(lines: readonly string[], room: number, columns: number): string[] {
  if (lines.length <= room) return [...lines];
  const last = lines.at(-1);
  if (last === undefined || room <= 0) return [];
  if (room < 3) return [...lines.slice(0, room - 1), last];
  const shown = lines.slice(0, room - 2);
  const more = `… and ${lines.length - shown.length - 1} more lines; see above`;
  return [...shown, colors.yellow(cutToWidth(more, columns)), last];
}

function optionLines(options: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const option of options.slice(0, 60)) {
    const word = visibleLine(option);
    if (line !== '' && line.length + 2 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : `  ${word}`;
  }
  return [...lines, line].map(each => colors.dim(cutToWidth(each, width)));
}

/** The end of the answer under way, calls without a result, and who else is at work for you. */
function workLines({live, open, awaited, agent, columns}: ScreenContent, room: number): string[] {
  if (room <= 0) return [];
  const width = columns - GUTTER_WIDTH;
  const calls = [
    ...open.map(call => callLine(call, width)),
    ...(live?.calls ?? []).map(({name, args}) => callLine({id: '', function: {name, arguments: args}}, width)),
  ];
  const others = awaited.map(({agent: name, status}) =>
    colors.dim(cutToWidth(`◐ @${name} ${status === 'waiting' ? 'waits' : 'works'}`, columns)),
  );
  const fixed = [...gutter(calls.slice(-Math.max(1, room - 2))), ...others].slice(0, Math.max(1, room));
  const left = room - fixed.length;
  if (!live || left < 2) return fixed;
  if (live.retry !== undefined)
    return [...gutter([colors.yellow(cutToWidth(visibleLine(live.retry), width))]), ...fixed];
  if (live.text.trim() === '')
    return live.calls.length > 0 ? fixed : [colors.cyan(cutToWidth(`◐ ${visibleLine(agent)} …`, columns)), ...fixed];
  const lines = markdownLines(tailOf(live.text), width);
  const shown = lines.slice(-(left - 1));
  const more =
    lines.length > shown.length || live.text.length > TAIL ? ' (the beginning follows when it is complete)' : '';
  return [colors.cyan(cutToWidth(`◐ ${visibleLine(agent)}${more}`, columns)), ...gutter(shown, colors.cyan), ...fixed];
}

function callLine(call: Call, width: number): string {
  const state =
    call.approval !== undefined && call.started === undefined ? colors.yellow('waits for you') : colors.cyan('◐');
  return `${colors.dim('→')} ${callTitle(call, width - 18)}  ${state}`;
}

/** How much of an answer under way is rendered for each frame. */
const TAIL = 4_000;

/** The end of a text, from the beginning of a line; a code block that is open there stays one. */
function tailOf(text: string): string {
  if (text.length <= TAIL) return text;
  const start = text.indexOf('\n', text.length - TAIL) + 1;
  const tail = text.slice(start === 0 ? text.length - TAIL : start);
  const fences = text.slice(0, text.length - tail.length).match(/^(?:```|~~~).*$/gm) ?? [];
  return fences.length % 2 === 1 ? `${fences.at(-1)}\n${tail}` : tail;
}
