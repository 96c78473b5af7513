import {closeSync, mkdirSync, openSync, statSync} from 'node:fs';
import {join} from 'node:path';

/**
 * When the first daemon of this home began, by the clock of its file system, in nanoseconds; if `.agentdir` was emptied since, the first
 * after that. Never, if that cannot be written.
 */
export function servedSince(home: string): bigint {
  const mark = join(home, '.agentdir', 'served');
  try {
    mkdirSync(join(home, '.agentdir'), {recursive: true});
    closeSync(openSync(mark, 'a'));
    return statSync(mark, {bigint: true}).mtimeNs;
  } catch {
    return NEVER;
  }
}

const NEVER = 2n ** 63n;
