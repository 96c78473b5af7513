import {failure, isFailure} from '../tool/failure.ts';
import type {ToolFailure, ToolResult} from '../tool/tool.ts';
import {readResponseBody} from './body.ts';
import {decodeText} from './charset.ts';
import type {PageResponse} from './follow.ts';
import type {HtmlText} from './html-thread.ts';
import {type MediaType, mediaType, sniff, textKind} from './media-type.ts';
import {webFailure} from './web-failure.ts';

export interface WebPage {
  /** The result without its content; a success or a failure. */
  head: ToolResult;
  content: string;
}

const MOST_ERROR_TEXT = 4000;
const MOST_ERROR_BYTES = 256 * 1024;

/** Read an answer as text. Throws if aborted. */
export async function readPage(
  {address, answer, redirected}: PageResponse,
  mostBytes: number,
  signal: AbortSignal,
): Promise<WebPage | ToolFailure> {
  const status = answer.statusCode ?? 0;
  const type = mediaType(answer.headers['content-type']);
  const known = {url: address.url.href, status, content_type: type.name, ...(redirected && {redirected})};
  if (textKind(type) === 'binary' && status < 300) {
    answer.destroy();
    return {...noText(type, answer.headers['content-length']), ...known};
  }
  const isError = status < 200 || status >= 300;
  let body: Awaited<ReturnType<typeof readResponseBody>>;
  try {
    body = await readResponseBody(answer, isError ? MOST_ERROR_BYTES : mostBytes);
  } catch (error) {
    signal.throwIfAborted();
    return {...webFailure(error, address.host), ...known};
  }
  if (isFailure(body)) return {...body, ...known};
  const {bytes, cut} = body;
  const made = await textOf(bytes, cut, type, known.url, signal);
  if (isError) {
    const error = `the server answers ${status} ${(answer.statusMessage ?? '').slice(0, 100)}`.trim();
    return {head: {...failure('FAILED', error), ...known}, content: made?.content.slice(0, MOST_ERROR_TEXT) ?? ''};
  }
  if (!made) return {...noText(type, String(bytes.length)), ...known};
  const notes = [
    cut && `it is longer than ${mostBytes / 1024 / 1024} MB: only its beginning was read`,
    made.plain && 'it could not be turned into Markdown: these are its words',
  ].filter(Boolean);
  const head: ToolResult = {
    success: true,
    ...known,
    ...(made.title && {title: made.title}),
    ...(notes.length > 0 && {note: notes.join('; ')}),
  };
  return {head, content: made.content};
}

/** Undefined if the body is not text. Throws if aborted. */
async function textOf(
  bytes: Buffer,
  cut: boolean,
  type: MediaType,
  address: string,
  signal: AbortSignal,
): Promise<HtmlText | undefined> {
  const kind = textKind(type) ?? sniff(bytes);
  if (kind === 'binary') return undefined;
  const text = decodeText(bytes, cut, type.charset);
  if (kind === 'text') return text.includes('\0') ? undefined : {content: text};
  // A separate chunk in the bundle too: the worker thread loads only this module.
  const {readHtml} = await import('./html-thread.ts');
  const made = await readHtml(text, address, signal);
  signal.throwIfAborted();
  return made;
}

function noText(media: MediaType, size: string | undefined): ToolFailure {
  const {name} = media;
  if (textKind(media) === 'text')
    return failure('FAILED', `it is said to be ${name.slice(0, 100)}, but it has NUL characters, so it is not text`);
  const type = name === '' ? 'of no known type' : name.slice(0, 100);
  return failure('FAILED', `it is not text but ${type}, ${size === undefined ? 'of unknown size' : `${size} bytes`}`);
}
