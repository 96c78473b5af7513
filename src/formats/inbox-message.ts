import {createHash} from 'node:crypto';
import {minimatch} from 'minimatch';
import type {InboxRecord} from './inbox.ts';
import type {InboxRoute} from './settings.ts';

/** Which route an inbox file takes: the first whose glob its name matches. */
export function routeOf(name: string, routes: readonly InboxRoute[]): InboxRoute | undefined {
  return routes.find(({files}) => minimatch(name, files.replace(/^inbox\//, ''), {dot: true, nocomment: true}));
}

/** A value within a record: `id`, or `event.id` for one within another. Undefined unless it is a text or a number. */
export function recordValue(data: Readonly<Record<string, unknown>>, key: string): string | undefined {
  let value: unknown = data;
  if (Object.hasOwn(data, key)) value = data[key];
  else for (const part of key.split('.')) value = isMap(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? `${value}` : undefined;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const THREADS = ['thread', 'thread_ts', 'thread_id'];

/** The conversation that a record belongs to, if it says so. */
export function threadOf(data: Readonly<Record<string, unknown>>, route: InboxRoute | undefined): string | undefined {
  for (const key of route?.thread === undefined ? THREADS : [route.thread]) {
    const thread = recordValue(data, key);
    if (thread !== undefined) return thread;
  }
  return undefined;
}

/** Keys that the text may stand under, and those that are no news to the agent. */
const TEXTS = new Set(['text', 'message', 'content', 'body']);
const KNOWN = new Set(['to', 'direction']);
const MOST_TEXT = 100_000;
const MOST_DETAILS = 2_000;

/** What the agent reads: the text, and below it whatever else the record says, a line each. */
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

/** What the record says beside this text; not all of it if that is too long. */
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

/** What can be read may be nested too deeply to be written. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '[nested too deeply]';
  }
}

/** Not in the middle of a character. */
function wellCut(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

/** Twelve hex digits that stand for these bytes. */
export function shortHash(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12);
}

/** Where a line stands: its file, which of the files that had this name, and the offset in bytes. */
export interface LinePlace {
  name: string;
  generation: number;
  offset: number;
  /** Of the bytes of the line. */
  hash: string;
}

/** The id of the delivery of a line: the same whoever reads it, and how often. */
export function lineDelivery({name, generation, offset, hash}: LinePlace): string {
  return `inbox/${plainName(name)}@${generation}:${offset}:${hash}`;
}

/** How such an id begins. */
export const KEYED = 'inbox=';

/** The same for a record with a key: one value of it is delivered once, in whichever file of the route it stands. */
export function keyDelivery({files}: InboxRoute, key: string): string {
  return `${KEYED}${shortHash(`${files}\0${key}`)}${shortHash(`${key}\0${files}`)}`;
}

/** A name that needs no quotes in YAML. */
export function plainName(name: string): string {
  const hex = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, '_')).replace(/[!'()*~]/g, hex);
}
