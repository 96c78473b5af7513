import {createHash} from 'node:crypto';
import {minimatch} from 'minimatch';
import {isMap} from './common/values.ts';
import type {InboxRecord} from './inbox.ts';
import type {InboxRoute} from './settings.ts';

/** Route of an inbox file: the first whose glob matches its name. */
export function routeOf(name: string, routes: readonly InboxRoute[]): InboxRoute | undefined {
  return routes.find(({files}) => minimatch(name, files.replace(/^inbox\//, ''), {dot: true, nocomment: true}));
}

/** A value of a record, by key or dotted path (`event.id`). Undefined unless it is a text or a number. */
export function recordValue(data: Readonly<Record<string, unknown>>, key: string): string | undefined {
  let value: unknown = data;
  if (Object.hasOwn(data, key)) value = data[key];
  else for (const part of key.split('.')) value = isMap(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? `${value}` : undefined;
}

const THREADS = ['thread', 'thread_ts', 'thread_id'];

/** Conversation of a record, if it names one. */
export function threadOf(data: Readonly<Record<string, unknown>>, route: InboxRoute | undefined): string | undefined {
  for (const key of route?.thread === undefined ? THREADS : [route.thread]) {
    const thread = recordValue(data, key);
    if (thread !== undefined) return thread;
  }
  return undefined;
}

/** Keys for the text, and keys that the agent need not see. */
const TEXTS = new Set(['text', 'message', 'content', 'body']);
const KNOWN = new Set(['to', 'direction']);
const MOST_TEXT = 100_000;
const MOST_DETAILS = 2_000;

/** Message for the agent: the text, then all other keys of the record, one per line. */
export function messageContent({text, data}: Pick<InboxRecord, 'text' | 'data'>, place: string): string {
  const whole =
    text.length <= MOST_TEXT
      ? text
      : `${wellCut(text, MOST_TEXT)}\n[… ${text.length - MOST_TEXT} more characters are in ${place}]`;
  const details = detailsOf(text, data);
  if (details === '') return whole;
  if (details.length <= MOST_DETAILS) return `${whole}\n\n${details}`;
  return `${whole}\n\n${wellCut(details, MOST_DETAILS)}…\n[… more is in ${place}]`;
}

/** The record's other keys, possibly cut. */
function detailsOf(text: string, data: InboxRecord['data']): string {
  let details = '';
  for (const [key, value] of Object.entries(data)) {
    const isTold =
      (KNOWN.has(key) && typeof value === 'string') || (TEXTS.has(key) && (value === text || value === ''));
    if (isTold || value === null) continue;
    const line = `${key}: ${typeof value === 'string' ? value : jsonOf(value)}`.replace(/\s+/g, ' ');
    details += `${details === '' ? '' : '\n'}${line}`;
    if (details.length > MOST_DETAILS) break;
  }
  return details;
}

/** Parsed JSON may be nested too deeply for JSON.stringify. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '[nested too deeply]';
  }
}

/** Do not cut a surrogate pair. */
function wellCut(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

/** First twelve hex digits of SHA-256. */
export function shortHash(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12);
}

/** Position of a line: its file, the generation of that file name, and the byte offset. */
export interface LinePlace {
  name: string;
  generation: number;
  offset: number;
  hash: string;
}

/** Delivery id of a line; the same for every reader. */
export function lineDelivery({name, generation, offset, hash}: LinePlace): string {
  return `inbox/${plainName(name)}@${generation}:${offset}:${hash}`;
}

/** Prefix of delivery ids of records with a key. */
export const KEYED = 'inbox=';

/** Delivery id of a record with a key: each key is delivered once per route, whatever the file. */
export function keyDelivery({files}: InboxRoute, key: string): string {
  return `${KEYED}${shortHash(`${files}\0${key}`)}${shortHash(`${key}\0${files}`)}`;
}

/** Encode a name so that it needs no quotes in YAML. */
export function plainName(name: string): string {
  const hex = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, '_')).replace(/[!'()*~]/g, hex);
}
