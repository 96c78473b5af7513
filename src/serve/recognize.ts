import {kindOf} from '../files/key.ts';
import {blobId} from '../store/git/blob-id.ts';
import {readHomeFile} from '../store/read.ts';
import {leavesNothing} from './complete.ts';
import {isExecutable, signature} from './known.ts';
import {seenText} from './seen.ts';
import type {Serving} from './serving.ts';
import {setFacts} from './state.ts';

/**
 * At a start without a cache nearly all files are as git has them, with nothing wrong and nothing left to do. Such a
 * file is known by reading it, and by nothing else that a look does. False: it takes a look.
 */
export function recognize(serving: Serving, path: string): boolean {
  const {disk, journal, known, late, pending} = serving;
  if (!serving.loading || known.has(path) || pending.has(path) || late.has(path) || kindOf(path) !== 'session')
    return false;
  const read = readHomeFile(disk, path);
  if (!read || !('text' in read) || read.link) return false;
  const blob = blobId(read.bytes);
  if (blob !== serving.versions.blobAt(path) || journal.executable.has(path) !== isExecutable(read.stat)) return false;
  const seen = seenText(path, 'session', read.text, {...read, blob});
  // A conflict that git left there has errors, too.
  if (seen.facts.problems.length > 0 || !leavesNothing(seen)) return false;
  known.set(path, {signature: signature(read.stat), blob, good: blob, ignored: false, settled: true});
  setFacts(serving, path, seen.facts);
  return true;
}
