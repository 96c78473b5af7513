import {kindOf} from '../files/key.ts';
import type {Outcome} from '../queue.ts';
import {save} from '../store/save.ts';
import {watchReplaced} from './late.ts';
import type {With} from './parts.ts';
import {type Found, type Seen, seenText} from './seen.ts';
import {inWords} from './troubles.ts';

/** Put `text` where there is no file yet: the file as it is then, or when to look again. */
export async function createText(
  {files, reports}: With<'files' | 'reports'>,
  path: string,
  text: string,
  seenAs?: (found: Found) => Seen,
): Promise<{seen: Seen} | {outcome: Outcome}> {
  const {home, journal} = files;
  const {troubles} = reports;
  const kind = kindOf(path);
  if (!kind) return {outcome: undefined};
  const bytes = Buffer.from(text);
  const over = {blob: journal.committed.get(path), at: Date.now()};
  const result = await save(home, {path, expected: undefined, bytes});
  const failed = 'failed' in result ? result.failed : undefined;
  troubles.set(`save ${path}`, failed && inWords(path, failed));
  if (failed?.name === 'NotDurable') throw failed;
  if (!('saved' in result)) return {outcome: failed ? {failed} : {after: 1}};
  const found = {bytes, stat: result.saved};
  return {seen: {...(seenAs?.(found) ?? seenText(path, kind, text, found)), over}};
}

interface Replacing {
  /** See `store/save`. */
  light?: boolean;
  /** How the file is read again. */
  seenAs?: (found: Found) => Seen;
}

/** Put `text` in place of what was seen: the file as it is then, or when to look at it again. */
export async function replaceText(
  {files, reports}: With<'files' | 'reports'>,
  seen: Seen,
  text: string,
  {light = false, seenAs = found => seenText(seen.path, seen.kind, text, found)}: Replacing = {},
): Promise<{seen: Seen} | {outcome: Outcome}> {
  const {home, journal} = files;
  const {troubles} = reports;
  const {path} = seen;
  const trouble = `save ${path}`;
  const bytes = Buffer.from(text);
  const over = {blob: journal.committed.get(path), at: Date.now()};
  const result = await save(home, {path, expected: seen.bytes, bytes, light});
  if ('failed' in result) {
    troubles.set(trouble, inWords(path, result.failed));
    if (result.failed.name === 'NotDurable') throw result.failed;
    return {outcome: {failed: result.failed}};
  }
  troubles.set(trouble, undefined);
  if ('changed' in result) return {outcome: {after: 1}};
  // What a person wrote is kept in .agentdir/replaced until it is committed; where there are no hard links, in git.
  if (result.replaced) watchReplaced(files, result.replaced);
  else if (!files.versions.own.has(seen.blob) && journal.committed.get(path) !== seen.blob) journal.keep(seen.bytes);
  const written = seenAs({bytes, stat: result.saved});
  files.versions.own.add(written.blob);
  files.looks.savedAt.set(path, performance.now());
  return {seen: {...written, over}};
}
