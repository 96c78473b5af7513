import {type Problem, problem} from './common/diagnostic.ts';

export interface InboxRecord {
  line: number;
  /** Offset of its line, in characters. */
  start: number;
  text: string;
  from: string | undefined;
  to: string | undefined;
  /** Written by the daemon; not delivered. */
  outgoing: boolean;
  data: Readonly<Record<string, unknown>>;
}

export interface InboxText {
  text: string;
  records: InboxRecord[];
  problems: Problem[];
  /** Text after the last newline: a line still being written. */
  rest: string;
}

const HINT = 'write one JSON object a line, such as {"text": "Is Redis up?", "from": "boss"}';

/** Must not throw. A bad line is a problem and does not affect other lines. */
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

/** Returns the record, or what is wrong with it. */
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

/** Without stack traces, which cost more than everything else when a million lines are wrong. */
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
 * Turn integers too large for JavaScript into texts: rounded, two ids could become equal. Only for valid JSON, because
 * in other text the search would restart at each unterminated quote.
 */
function parseExactly(source: string): unknown {
  const data = parseJson(source);
  if (data instanceof Error || !/\d{16}/.test(source)) return data;
  const exact = source.replace(TOKENS, token =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
  return parseJson(exact);
}

/** The first non-blank text, otherwise the first text. */
function firstText(record: Record<string, unknown>, keys: readonly string[]): string | undefined {
  const texts = keys.map(key => record[key]).filter(value => typeof value === 'string');
  return texts.find(text => text.trim() !== '') ?? texts[0];
}

/** A line to append. JSON has no raw newlines, so a record is always one line. */
export function newRecord(data: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(data)}\n`;
}

export function stringifyInbox(inbox: InboxText): string {
  return inbox.text;
}
