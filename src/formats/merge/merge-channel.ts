import {type MergeResult, mergeLines} from './merge-lines.ts';

/** Both sides add entries at the end. The person's go below those that the daemon has written meanwhile, so that no entry changes its number. */
export function mergeChannel(base: string, person: string, daemon: string): MergeResult {
  const common = base.trimEnd();
  if (!person.startsWith(common) || !daemon.startsWith(common)) return mergeLines(base, person, daemon, {both: true});
  const added = person.slice(common.length).replace(/^\s+/, '');
  if (added === '') return {text: daemon, conflicts: []};
  return {text: `${daemon.trimEnd()}\n\n${added}`, conflicts: []};
}
