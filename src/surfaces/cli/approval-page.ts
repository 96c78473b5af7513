import {GRANT_LINES} from '../../formats/approval/approval-grants.ts';
import {fenceOf, isClosingFence} from '../../formats/approval/approval-labels.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {commandNow} from '../actions/decide/command-now.ts';
import type {ApprovalPage} from '../actions/decide/page.ts';
import {isUnrecorded, type Request} from '../actions/decide/queue.ts';
import {colors} from '../terminal/output.ts';
import {breakAt} from '../terminal/table.ts';
import {ago} from './short-text.ts';

export function paintRisk(risk: string): string {
  const paint = {LOW: colors.green, MEDIUM: colors.yellow, HIGH: colors.red, CRITICAL: colors.magenta}[risk];
  return paint ? paint(risk) : visibleLine(risk);
}

/**
 * Everything needed for a decision, for a terminal of this width. Text by an agent has a bar on every line, so that it
 * cannot pretend to be anything else; nothing is hidden. `brief`: without ids, times and digests.
 */
export function approvalPage(
  request: Request,
  page: ApprovalPage | undefined,
  width: number,
  {brief = false}: {brief?: boolean} = {},
): string {
  const {id, task, agent} = request;
  const risk = fieldOf(task, 'risk');
  const taint = fieldOf(task, 'taint');
  const created = fieldOf(task, 'created');
  const head = [
    colors.bold(visibleLine(id)),
    risk ? paintRisk(risk) : '',
    agent ? colors.cyan(`@${visibleLine(agent)}`) : '',
    created ? colors.dim(ago(created, Date.now())) : '',
  ];
  const lines = [head.filter(Boolean).join('  '), ...wrapped(colors.bold, visibleLine(task.title), width)];
  const again = fieldOf(task, 'again');
  if (again !== undefined) lines.push(...wrapped(colors.yellow, visibleLine(again), width));
  for (const line of GRANT_LINES) {
    const [key = '', value] = line.split(': ');
    if (fieldOf(task, key) === value) lines.push(...wrapped(colors.yellow, `granted by you: ${line}`, width));
  }
  if (taint) lines.push(...wrapped(colors.yellow, `tainted: has read ${visibleLine(taint)}`, width));
  lines.push('', ...(page ? pageLines(page.file.text, width, brief) : itemLines(request, width)));
  const changed = changeLines(request, page, width);
  if (changed.length > 0) lines.push('', ...changed);
  if (!isUnrecorded(request) || request.decision) lines.push('', ...decisionLines(request, width));
  return lines.join('\n');
}

/** The command, if it was changed. */
function changeLines(request: Request, page: ApprovalPage | undefined, width: number): string[] {
  const now = commandNow(request, page);
  const shown = page?.file.action.command;
  if (now === undefined || shown === undefined) return [];
  const told = (words: string, text: string) => [...wrapped(colors.yellow, words, width), ...barred(text, width)];
  if ('queue' in now)
    return [
      ...told('The queue and the page have different texts. In the queue:', now.queue),
      ...told('On the page:', now.page),
      ...wrapped(colors.yellow, now.certain ? 'Nothing runs until both are the same.' : 'The changed one runs.', width),
    ];
  const where = {queue: 'in the queue', page: 'on the page', both: 'in the queue and on the page'};
  if (now.changed !== undefined) return told(`Command, as changed ${where[now.changed]}; this runs:`, now.text);
  return makeVisible(now.text) === shown ? [] : told('Command, as in the queue; this runs:', now.text);
}

/** The page without title and `## Review`; ids and digests come last, also on pages that have them on top. */
function pageLines(text: string, width: number, brief: boolean): string[] {
  const end = text.lastIndexOf('\n## Review');
  const whole = text.slice(0, end === -1 ? text.length : end);
  const body = whole.indexOf('\n## ') + 1;
  if (!/^[a-z][a-z0-9_]*:/m.test(whole.slice(0, body))) return markdownLines(whole, width, brief);
  const [head, rest] = [markdownLines(whole.slice(0, body), width), markdownLines(whole.slice(body), width, brief)];
  return brief || head.length === 0 ? rest : [...rest, '', ...head];
}

function markdownLines(text: string, width: number, brief = false): string[] {
  const out: string[] = [];
  let isSkipped = false;
  let fence: {mark: string; diff: boolean} | undefined;
  for (const raw of text.split('\n')) {
    const line = raw.replace(/\r$/, '');
    if (fence) {
      if (isClosingFence(line, fence.mark)) fence = undefined;
      else if (!isSkipped) out.push(...barred(line, width, fence.diff ? paintDiff(line) : undefined));
      continue;
    }
    if (line.startsWith('## ')) isSkipped = brief && line === '## Request';
    const mark = fenceOf(line);
    if (mark !== undefined) fence = {mark, diff: line.trim().slice(mark.length) === 'diff'};
    else if (!isSkipped && !line.startsWith('# '))
      out.push(...wrapped(paintLine(line), plainWords(makeVisible(line)), width));
  }
  while (out.at(-1) === '') out.pop();
  return out;
}

/** Lines of the command that are repeated at the prompt. */
const MOST_LINES = 6;

/** Repeats the command right above the prompt. */
export function whatRuns(request: Request, page: ApprovalPage | undefined, width: number): string[] {
  const now = commandNow(request, page);
  if (now === undefined) return [];
  if ('queue' in now) return changeLines(request, page, width);
  const lines = barred(now.text, width);
  const [runs] = page?.file.action.permissions?.split('\n') ?? [];
  const host = fieldOf(request.task, 'where') === 'host';
  return [
    ...lines.slice(0, MOST_LINES),
    ...(lines.length > MOST_LINES ? [colors.yellow(`… and ${lines.length - MOST_LINES} more lines; see above`)] : []),
    ...(runs === undefined ? [] : wrapped(host ? colors.yellow : String, visibleLine(runs), width)),
  ];
}

/** Strips Markdown from headings and labels. */
function plainWords(line: string): string {
  return line.replace(/^#+ /, '').replace(/^\*\*([A-Za-z ]+):\*\*/, '$1:');
}

function paintLine(line: string): (text: string) => string {
  if (/^(?:#|\*\*)/.test(line)) return colors.bold;
  return /^[a-z][a-z0-9_]*:/.test(line) ? colors.dim : String;
}

function paintDiff(line: string): ((text: string) => string) | undefined {
  if (/^(?:\+\+\+|---) /.test(line)) return colors.bold;
  return {'+': colors.green, '-': colors.red, '@': colors.cyan}[line[0] ?? ''];
}

const SHOWN_ABOVE = new Set(['id', 'type', 'agent', 'created', 'risk', 'taint']);
const SHOWN_BELOW =
  /^(?:status|approved_|rejected_|rejection_|executed_at|outcome|signature|edited$|answer|always|rule)/;

/** A request without a page, from its item. */
function itemLines({task}: Request, width: number): string[] {
  return task.fields
    .filter(({key}) => !SHOWN_ABOVE.has(key) && !SHOWN_BELOW.test(key))
    .flatMap(({key, value}) => [colors.bold(`${visibleLine(key)}:`), ...barred(value, width)]);
}

function decisionLines({task}: Request, width: number): string[] {
  const said = task.fields.filter(({key}) => SHOWN_BELOW.test(key));
  return said.flatMap(({key, value}) =>
    wrapped(String, `${visibleLine(key)}: ${visibleLine(value.trim().replace(/\s*\n\s*/g, ' ↵ '))}`, width),
  );
}

/** Text of an agent, wrapped here so that every line has the bar. */
function barred(text: string, width: number, paint: (text: string) => string = String): string[] {
  const bar = colors.dim('│ ');
  return makeVisible(text)
    .split('\n')
    .flatMap(line => breakAt(untabbed(line), width - 2, true).map(part => bar + paint(part)));
}

function untabbed(line: string): string {
  return line.replaceAll('\t', '    ');
}

function wrapped(paint: (text: string) => string, line: string, width: number): string[] {
  return breakAt(untabbed(line), width, true).map(part => (part === '' ? part : paint(part)));
}

export function pageWidth(): number {
  return process.stdout.isTTY ? Math.max(20, process.stdout.columns || 80) : Number.POSITIVE_INFINITY;
}
