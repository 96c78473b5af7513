import {isBinary} from '../workspace/open-file.ts';

export type TextKind = 'html' | 'text';

export interface MediaType {
  /** For example `text/html`, in lower case; empty if the server sends none. */
  name: string;
  charset: string | undefined;
}

export function mediaType(header: string | undefined): MediaType {
  const [name = '', ...parameters] = (header ?? '').slice(0, 1000).split(';');
  const charset = parameters.map(each => /^\s*charset\s*=\s*"?([^"\s]+)/i.exec(each)?.[1]).find(Boolean);
  return {name: name.trim().toLowerCase().slice(0, 100), charset};
}

const textNames =
  /^(text\/.+|.+\+(json|xml|yaml)|application\/(json|x-ndjson|ndjson|jsonlines|xml|yaml|x-yaml|toml|javascript|ecmascript|x-javascript|typescript|x-sh|sql|graphql|rtf|x-tex|x-www-form-urlencoded|atom|rss))$/;

/** Undefined if only the bytes can tell. */
export function textKind({name}: MediaType): TextKind | 'binary' | undefined {
  if (name === '') return undefined;
  if (name === 'text/html' || name === 'application/xhtml+xml') return 'html';
  return textNames.test(name) && name !== 'image/svg+xml' ? 'text' : 'binary';
}

export function sniff(bytes: Buffer): TextKind | 'binary' {
  if (isBinary(bytes)) return 'binary';
  return /^\ufeff?\s*<(!doctype html|html)[\s>]/i.test(bytes.toString('utf8', 0, 1000)) ? 'html' : 'text';
}
