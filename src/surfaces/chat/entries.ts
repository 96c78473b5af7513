import {structuredPatch} from 'diff';
import {isMap} from '../../formats/common/values.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import {colors} from '../terminal/output.ts';
import {cutToWidth, textWidth} from '../terminal/table.ts';
import {diffPaint, markdownLines, plainLines} from './markdown.ts';
import {breakColoured, breakLine, wrapSpans} from './spans.ts';

/**
 * A piece of the history on the screen. Every line that an agent or somebody outside wrote begins with the bar of `gutter`; no line of chat
 * itself does, so that no text can pass for the program.
 */
export type Entry = (width: number) => string[];

const BAR = '│ ';

/** Lines behind a bar, for a text that is not ours. */
export function gutter(lines: readonly string[], paint: (text: string) => string = colors.dim): string[] {
  return lines.map(line => paint(BAR) + line);
}

export const GUTTER_WIDTH = BAR.length;

/** What the person at this or another terminal wrote. */
export function personEntry(text: string): Entry {
  return width => [
    '',
    ...plainLines(text, width - 2).map((line, i) => `${colors.green(i === 0 ? '>' : ' ')} ${colors.bold(line)}`),
  ];
}

const FOLDED = 8;

/** A message from an agent, a task or an inbox: the beginning, unless `isWhole`. */
export function senderEntry(from: string, text: string, isWhole = false): Entry {
  return width => {
    const lines = markdownLines(text, width - GUTTER_WIDTH);
    const shown = isWhole ? lines : lines.slice(0, FOLDED);
    const more = lines.length - shown.length;
    return [
      '',
      colors.magenta(cutToWidth(`← ${visibleLine(from)}`, width)),
      ...gutter(shown, colors.magenta),
      ...(more > 0 ? [colors.dim(`  … ${more} more lines (Ctrl+O)`)] : []),
    ];
  };
}

/** An agent's answer. */
export function answerEntry(agent: string, text: string, note = ''): Entry {
  return width => [
    '',
    `${colors.cyan(cutToWidth(`● ${visibleLine(agent)}`, width))}${note === '' ? '' : ` ${colors.dim(visibleLine(note))}`}`,
    ...gutter(markdownLines(text, width - GUTTER_WIDTH), colors.cyan),
  ];
}

/** An entry of a workflow channel. */
export function channelEntry(from: string, isAgent: boolean, time: string, text: string): Entry {
  const paint = isAgent ? colors.cyan : from === 'system' ? colors.dim : colors.green;
  return width => [
    '',
    `${paint(cutToWidth(`● ${visibleLine(from)}`, width - 9))} ${colors.dim(cutToWidth(visibleLine(time), 8))}`,
    ...gutter(markdownLines(text, width - GUTTER_WIDTH), paint),
  ];
}

/** A line of chat itself. */
export function noticeEntry(text: string, paint: (text: string) => string = colors.dim): Entry {
  return width => wrapSpans([{text: makeVisible(text), paint}], width);
}

/** An error. It may quote a server or a file, so all but its first line are behind the bar. */
export function errorEntry(message: string, hint?: string): Entry {
  return width => {
    const room = width - GUTTER_WIDTH;
    const [first = '', ...more] = wrapSpans([{text: makeVisible(message), paint: colors.red}], room);
    const below = hint ? wrapSpans([{text: makeVisible(hint), paint: colors.dim}], room) : [];
    return [`${colors.red('✗')} ${first}`, ...gutter(more), ...below.map(line => `  ${line}`)];
  };
}

/** The output of a command. It has written out control characters itself, but repeats what agents wrote. */
export function outputEntry(command: string, text: string): Entry {
  return width => [
    '',
    colors.dim(cutToWidth(`$ agentdir ${visibleLine(command)}`, width)),
    ...gutter(
      text
        .trimEnd()
        .split('\n')
        .flatMap(line => breakColoured(line, width - GUTTER_WIDTH)),
    ),
  ];
}

/** A heading between two conversations. */
export function headingEntry(title: string, about: string): Entry {
  return width => {
    const text = ` ${cutToWidth(visibleLine(title), width - 4)} `;
    const rest = Math.max(0, Math.min(width, 60) - text.length - 2);
    return [
      '',
      `${colors.dim('──')}${colors.bold(text)}${colors.dim('─'.repeat(rest))}`,
      ...(about === '' ? [] : wrapSpans([{text: visibleLine(about), paint: colors.dim}], width)),
    ];
  };
}

/** A call and its result, folded to a line; a change of a file with its diff. `isWhole`: with arguments and result. */
export function callEntry(call: Call, result: string | undefined, isWhole = false): Entry {
  return width => {
    const room = width - GUTTER_WIDTH;
    const end = result === undefined ? {text: colors.cyan('◐ runs'), plain: '◐ runs'} : resultWords(result, room >> 1);
    const words = callTitle(call, room - end.plain.length - 4);
    const line = `${colors.dim('→')} ${words}  ${end.text}`;
    const below = isWhole ? detailLines(call, result, room) : changeLines(call, result, room);
    return gutter([line, ...below]);
  };
}

/** The argument that says most. */
const TELLING = [
  'command',
  'path',
  'url',
  'pattern',
  'query',
  'to',
  'title',
  'question',
  'name',
  'channel',
  'id',
  'prompt',
  'message',
  'file',
];

/** `execute_command df -h`, on one line. */
export function callTitle({function: {name, arguments: args}}: Call, width: number): string {
  const parsed = argumentsOf(args);
  const key = TELLING.find(each => typeof parsed?.[each] === 'string');
  const what = key === undefined ? (args === '{}' ? '' : args) : String(parsed?.[key]);
  const flat = visibleLine(what.replace(/\s*\n\s*/g, ' ↵ '));
  const shown = cutToWidth(visibleLine(name), Math.max(8, width));
  const room = width - textWidth(shown) - 1;
  return room < 4 ? colors.bold(shown) : `${colors.bold(shown)} ${cutToWidth(flat, room)}`.trimEnd();
}

function argumentsOf(args: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(args);
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function resultWords(content: string, most: number): {text: string; plain: string} {
  const {success, code, error, exit_code, duration_ms, answer} = argumentsOf(content) ?? {success: true};
  const first = (text: unknown) => cutToWidth(visibleLine(String(text ?? '').split('\n')[0] ?? ''), Math.max(16, most));
  const said = (mark: string, words: string, paint: (text: string) => string) => {
    const plain = `${mark} ${words}`.trimEnd();
    return {plain, text: paint(plain)};
  };
  if (success === false)
    return said(
      '✗',
      `${first(code)}${exit_code === undefined ? `: ${first(error)}` : ` exit code ${first(exit_code)}`}`,
      colors.red,
    );
  if (typeof answer === 'string') return said('✓', first(answer), colors.green);
  if (typeof exit_code === 'number' && exit_code !== 0) return said('✗', `exit code ${exit_code}`, colors.red);
  return said(
    '✓',
    typeof duration_ms === 'number' && duration_ms >= 1000 ? `${(duration_ms / 1000).toFixed(1)} s` : '',
    colors.green,
  );
}

/** Lines of a diff that are shown folded. */
const DIFF_LINES = 16;

/** What a call that succeeded changed in a file. */
function changeLines({function: {name, arguments: args}}: Call, result: string | undefined, width: number): string[] {
  if (result === undefined || argumentsOf(result)?.success !== true) return [];
  const {old, new: changed, content} = argumentsOf(args) ?? {};
  if (typeof old === 'string' && typeof changed === 'string') return diffLines(old, changed, width, DIFF_LINES);
  if (typeof content === 'string' && /^(?:write|create)_file$/.test(name))
    return [colors.green(`+${content.split('\n').length} lines`)];
  return [];
}

function diffLines(before: string, after: string, width: number, most: number): string[] {
  const ended = (text: string) => (text.endsWith('\n') ? text : `${text}\n`);
  const {hunks} = structuredPatch('', '', ended(before), ended(after), '', '', {context: 2});
  const lines = hunks.flatMap((hunk, i) => [...(i > 0 ? ['⋯'] : []), ...hunk.lines]);
  const shown = lines
    .slice(0, most)
    .flatMap(line => breakLine(makeVisible(line), width - 2).map(row => `  ${diffPaint(line)(row)}`));
  return lines.length > most ? [...shown, colors.dim(`  … ${lines.length - most} more lines (Ctrl+O)`)] : shown;
}

const DETAIL_LINES = 200;

function detailLines({function: {arguments: args}}: Call, result: string | undefined, width: number): string[] {
  const {old, new: changed, ...rest} = argumentsOf(args) ?? {text: args};
  const diff =
    typeof old === 'string' && typeof changed === 'string' ? diffLines(old, changed, width, DETAIL_LINES) : [];
  const fields = (map: Record<string, unknown>) =>
    Object.entries(map).flatMap(([key, value]) => {
      const lines = (typeof value === 'string' ? value : JSON.stringify(value)).split('\n');
      const all = lines.flatMap((line, i) =>
        breakLine(makeVisible(i === 0 ? `${key}: ${line}` : `  ${line}`), width - 2),
      );
      const shown = all.slice(0, DETAIL_LINES).map(line => `  ${line}`);
      return all.length > DETAIL_LINES ? [...shown, colors.dim(`  … ${all.length - DETAIL_LINES} more lines`)] : shown;
    });
  const told = result === undefined ? [] : fields(argumentsOf(result) ?? {result});
  return [...fields(rest), ...diff, ...(told.length > 0 ? [colors.dim('  result'), ...told] : [])];
}
