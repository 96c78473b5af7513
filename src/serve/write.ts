import type {Outcome} from '../queue.ts';
import {save} from '../store/save.ts';
import {watchReplaced} from './late.ts';
import {type Seen, seenText} from './seen.ts';
import type {Serving} from './serving.ts';
import {inWords} from './troubles.ts';

/** Put `text` in place of what was seen: the file as it is then, or when to look at it again. */
export async function replaceText(
  serving: Serving,
  seen: Seen,
  text: string,
): Promise<{seen: Seen} | {outcome: Outcome}> {
  const {home, journal, troubles} = serving;
  const {path, kind} = seen;
  const trouble = `save ${path}`;
  try {
    // Whatever is replaced is in git's object store first, whether or not its commit is published yet.
    journal.keep(seen.bytes);
  } catch (error) {
    troubles.set(trouble, inWords(path, error as Error));
    return {outcome: {failed: error as Error}};
  }
  const bytes = Buffer.from(text);
  const result = await save(home, {path, expected: seen.bytes, bytes});
  if ('failed' in result) {
    troubles.set(trouble, inWords(path, result.failed));
    if (result.failed.name === 'NotDurable') throw result.failed;
    return {outcome: {failed: result.failed}};
  }
  troubles.set(trouble, undefined);
  if ('changed' in result) return {outcome: {after: 1}};
  if (result.replaced) watchReplaced(serving, result.replaced);
  return {seen: seenText(path, kind, text, bytes, result.saved)};
}
