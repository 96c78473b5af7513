import {isFailure} from '../tool/failure.ts';
import {withoutSecrets} from '../tool/search-lines.ts';
import type {ToolContext} from '../tool/tool.ts';
import {readPlace} from '../workspace/open-file.ts';
import {makeToolPath, type Root} from '../workspace/place.ts';
import {hashOf, type IndexedFile, type IndexedPassage, LARGEST, searchableText} from './file-index.ts';

/** Gives the text of a passage, without secrets, those across its ends included. */
export type TextOf = (passage: IndexedPassage) => string;

/** Texts are not kept in memory: the file is read again. Undefined if it is not what was indexed any more. */
export async function readTexts(context: ToolContext, root: Root, file: IndexedFile): Promise<TextOf | undefined> {
  const read = await readPlace(context, makeToolPath(root, file.parts), LARGEST);
  if (isFailure(read) || hashOf(read.bytes) !== file.hash) return undefined;
  const text = searchableText(read.bytes);
  if (text === undefined) return undefined;
  return ({start, end}) => withoutSecrets(text, start, end, context.redact);
}
