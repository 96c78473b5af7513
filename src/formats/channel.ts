import {nearest, type Problem, problem} from './common/diagnostic.ts';
import {exit, UserError} from './common/errors.ts';
import {lineEnd} from './common/lines.ts';
import {makeVisible} from './common/visible.ts';
import {mentionsInProse, withoutQuotes} from './mentions.ts';

/** `### 10:00:05 [reviewer]` and the text below. */
export interface ChannelEntry {
  time: string;
  from: string;
  text: string;
  line: number;
}

export interface ChannelFile {
  text: string;
  entries: ChannelEntry[];
  problems: Problem[];
}

const HEAD = /^### (\d{4}-\d\d-\d\dT[\d:.]+Z?|\d\d:\d\d:\d\d(?:\.\d+)?) \[([A-Za-z0-9][A-Za-z0-9._/@-]*)\]$/;
const HEADLIKE = /^\\*### /;

/** Must not throw. Text before the first entry gives a warning. */
export function parseChannel(text: string): ChannelFile {
  const entries: (ChannelEntry & {lines: string[]})[] = [];
  const problems: Problem[] = [];
  const lines = text.replace(/^\ufeff/, '').split('\n');
  for (const [index, raw] of lines.entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const head = HEAD.exec(line);
    const current = entries.at(-1);
    if (head?.[1] && head[2]) entries.push({time: head[1], from: head[2], text: '', line: index + 1, lines: []});
    else if (current) current.lines.push(HEADLIKE.test(line) && line.startsWith('\\') ? line.slice(1) : line);
    else if (line.trim() !== '' && !line.startsWith('# ') && problems.length === 0) {
      problems.push(
        problem(
          'STRAY_TEXT',
          {line: index + 1, column: 1},
          'expected "### TIME [name]" first, found text that belongs to nobody',
          'put a line such as "### 10:00:05 [human]" above it',
        ),
      );
    }
  }
  return {text, entries: entries.map(({lines: own, ...entry}) => ({...entry, text: own.join('\n').trim()})), problems};
}

/** Append an entry. Escapes lines that look like an entry's head, so that nobody can speak for another. */
export function appendEntry(text: string, entry: {time: string; from: string; text: string}): string {
  if (!HEAD.test(entryHead(entry)))
    throw new UserError(`not a time and a name: ${JSON.stringify([entry.time, entry.from])}`, exit.badFile);
  const eol = lineEnd(text);
  const lines = makeVisible(entry.text.replace(/\r\n/g, '\n'), false)
    .trim()
    .split('\n')
    .map(line => (HEADLIKE.test(line) ? `\\${line}` : line));
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  return `${text}${gap}${entryHead(entry)}${eol}${lines.join(eol)}${eol}`;
}

/** The line that begins an entry. */
export function entryHead({time, from}: Pick<ChannelEntry, 'time' | 'from'>): string {
  return `### ${time} [${from}]`;
}

export function isEntryHead(line: string): boolean {
  return HEAD.test(line.trimEnd());
}

export function stringifyChannel(file: ChannelFile): string {
  return file.text;
}

/** Whom a text wakes, and which names it mentions that are nobody's. */
export interface AgentMentions {
  names: string[];
  unknown: string[];
}

/**
 * Agents of an instance that a channel entry mentions, each once, in order. Code and quoted lines (">") do not count. Without `instance`,
 * full addresses such as `@coder@pr-123` are unknown.
 */
export function agentMentions(text: string, agents: Iterable<string>, instance?: string): AgentMentions {
  const known = new Set(agents);
  const [names, unknown] = [new Set<string>(), new Set<string>()];
  for (const {name, instance: of} of mentionsInProse(withoutQuotes(text))) {
    if (known.has(name) && (of === undefined || of === instance)) names.add(name);
    else unknown.add(of === undefined ? name : `${name}@${of}`);
  }
  return {names: [...names], unknown: [...unknown]};
}

/** Mentioned names among `known`, each once, in order. */
export function mentionsIn(text: string, known: ReadonlySet<string>): string[] {
  return agentMentions(text, known).names;
}

/** What to do about a mention of nobody. */
export function mentionHint(name: string, agents: readonly string[]): string {
  const near = nearest(name, agents);
  return near ? `did you mean @${near}?` : `the agents are ${agents.map(each => `@${each}`).join(', ')}`;
}
