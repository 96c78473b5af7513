import {isFailure} from '../tool/failure.ts';
import {withoutSecrets} from '../tool/search-lines.ts';
import type {ToolContext} from '../tool/tool.ts';
import {readPlace} from '../workspace/open-file.ts';
import {makeToolPath, type Root} from '../workspace/place.ts';
import {hashOf, type IndexedFile, type IndexedPassage, LARGEST, searchableText} from './file-index.ts';

/** Text of a passage without secrets, including secrets that cross its ends. */
export type TextOf = (passage: IndexedPassage) => string;

/** Read the file again, because texts are not kept in memory. Undefined if the file changed since it was indexed. */
export async function readTexts(context: ToolContext, root: Root, file: IndexedFile): Promise<TextOf | undefined> {
  const read = await readPlace(context, makeToolPath(root, file.parts), LARGEST);
  if (isFailure(read) || hashOf(read.bytes) !== file.hash) return undefined;
  const text = searchableText(read.bytes);
  if (text === undefined) return undefined;
  return ({start, end}) => withoutSecrets(text, start, end, context.redact);
}
