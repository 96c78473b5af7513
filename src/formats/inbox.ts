import {type Problem, problem} from './common/diagnostic.ts';

/** One record of an inbox file. */
export interface InboxRecord {
  line: number;
  /** Offset of its line, in characters of the text given. */
  start: number;
  text: string;
  from: string | undefined;
  to: string | undefined;
  /** The daemon wrote it; it is not delivered. */
  outgoing: boolean;
  /** The whole object, as the sender wrote it. */
  data: Readonly<Record<string, unknown>>;
}

export interface InboxText {
  text: string;
  records: InboxRecord[];
  problems: Problem[];
  /** What stands after the last newline: a line still being written. */
  rest: string;
}

const HINT = 'write one JSON object a line, such as {"text": "Is Redis up?", "from": "boss"}';

/** Must not throw. A bad line is a problem of its own and stops nothing. */
export function parseInbox(text: string, firstLine = 1): InboxText {
  const records: InboxRecord[] = [];
  const problems: Problem[] = [];
  let line = firstLine;
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  for (let end = text.indexOf('\n', start); end !== -1; end = text.indexOf('\n', start)) {
    const source = text.slice(start, end).trim();
    if (source !== '') {
      const read = readRecord(source);
      if (typeof read !== 'string') records.push({line, start, ...read});
      else if (problems.length < 1000) problems.push(problem('BAD_LINE', {line, column: 1}, read, HINT));
    }
    start = end + 1;
    line++;
  }
  return {text, records, problems, rest: text.slice(start)};
}

/** The record, or what is wrong with it. */
export function readRecord(source: string): Omit<InboxRecord, 'line' | 'start'> | string {
  if (!source.startsWith('{') || !source.endsWith('}'))
    return 'expected a JSON object {…} on one line, found something else';
  const data = parseExactly(source);
  if (data instanceof Error) return `expected a JSON object, found text that is not JSON (${data.message})`;
  if (data === null || typeof data !== 'object' || Array.isArray(data))
    return `expected a JSON object, found ${Array.isArray(data) ? 'a list' : typeof data}`;
  const record = data as Record<string, unknown>;
  const outgoing = record.direction === 'out';
  const text = firstText(record, ['text', 'message', 'content', 'body']);
  if (text === undefined && !outgoing) return 'expected a key "text" (or message, content, body) with text, found none';
  return {
    text: text ?? '',
    from: firstText(record, ['from', 'user', 'author', 'sender']),
    to: firstText(record, ['to']) || undefined,
    outgoing,
    data: record,
  };
}

/** Without a stack trace, which costs more than all the rest when a million lines are wrong. */
function parseJson(source: string): unknown {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return JSON.parse(source);
  } catch (error) {
    return error;
  } finally {
    Error.stackTraceLimit = limit;
  }
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Ids that are numbers too long for JavaScript become texts: rounded, two of them would be one. Only of what is JSON: in anything
 * else the search would begin again at each quote that has no end.
 */
function parseExactly(source: string): unknown {
  const data = parseJson(source);
  if (data instanceof Error || !/\d{16}/.test(source)) return data;
  const exact = source.replace(TOKENS, token =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
  return parseJson(exact);
}

/** The first that says something; else the first that is a text, though an empty one. */
function firstText(record: Record<string, unknown>, keys: readonly string[]): string | undefined {
  const texts = keys.map(key => record[key]).filter(value => typeof value === 'string');
  return texts.find(text => text.trim() !== '') ?? texts[0];
}

/** A line to append. JSON has no raw newline, so a record is always one line. */
export function newRecord(data: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(data)}\n`;
}

export function stringifyInbox(inbox: InboxText): string {
  return inbox.text;
}
