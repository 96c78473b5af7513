import {hasErrors} from '../common/diagnostic.ts';
import type {Kind} from '../common/key.ts';
import {parseSession} from '../session/session.ts';
import {parseTasks} from '../task/task-parse.ts';
import {mergeChannel} from './merge-channel.ts';
import {type MergeResult, mergeLines} from './merge-lines.ts';
import {mergeMemory} from './merge-memory.ts';
import {mergeSessions} from './merge-session.ts';
import {mergeTasks} from './merge-tasks.ts';

export type {MergeResult} from './merge-lines.ts';

/**
 * Merge the daemon's changes since `base` into the person's text, which was made from `base`. Keeps every byte of the
 * person's text that the daemon did not change, and the daemon's started calls, results, notes and decisions. Must not
 * throw.
 */
export function merge(kind: Kind, base: string, person: string, daemon: string): MergeResult {
  if (daemon === base || person === daemon) return {text: person, conflicts: []};
  if (person === base) return {text: daemon, conflicts: []};
  if (kind === 'channel') return mergeChannel(base, person, daemon);
  if (kind === 'memory') return mergeMemory(base, person, daemon);
  if (kind !== 'tasks' && kind !== 'session') return mergeLines(base, person, daemon);
  return byParts(kind, base, person, daemon) ?? byLines(kind, base, person, daemon);
}

function byParts(kind: 'tasks' | 'session', base: string, person: string, daemon: string): MergeResult | undefined {
  try {
    return kind === 'tasks' ? mergeTasks(base, person, daemon) : mergeSessions(base, person, daemon);
  } catch {
    // An edit that would touch too much is refused; a merge by lines may still work.
    return undefined;
  }
}

/** For texts with errors or without matching parts. Keeps the daemon's text if the result is doubtful. */
function byLines(kind: 'tasks' | 'session', base: string, person: string, daemon: string): MergeResult {
  const merged = mergeLines(base, person, daemon);
  if (merged.conflicts.length > 0)
    return {text: daemon, conflicts: ['both sides changed the same lines; the text is as the daemon wrote it']};
  const problems = (text: string) => (kind === 'tasks' ? parseTasks(text) : parseSession(text)).problems;
  if (hasErrors(problems(merged.text)) && !hasErrors(problems(person)))
    return {text: daemon, conflicts: ['both texts together would have errors; the text is as the daemon wrote it']};
  return merged;
}
