import type {QueriedRows, ResultCode, ToolFailure} from '../../effects/tool/tool.ts';
import {versionText} from '../../loop/accept-version.ts';
import {versionOnDisk} from '../../loop/current-config.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import type {QueryFailure} from '../../query/task-query.ts';
import type {With} from '../state/parts.ts';

/** Slightly more than one tool result can carry. */
const QUERY_LIMITS = {rows: 1_001, text: 64 * 1024, cell: 4_000};

const codes: Record<QueryFailure['failed'], ResultCode> = {
  wrong: 'INVALID_ARGUMENTS',
  slow: 'TIMEOUT',
  broken: 'FAILED',
};

/** Run SQL over the current versions of the files. The first query reads all task files, later queries only changed ones. */
export async function runQuery(
  {files, effects}: With<'files' | 'effects'>,
  text: string,
  signal: AbortSignal,
): Promise<QueriedRows | ToolFailure> {
  const {disk, index, known} = files;
  // Loaded on demand: most homes never query.
  const {TaskQuery} = await import('../../query/task-query.ts');
  effects.queries ??= new TaskQuery();
  const source = {
    index,
    files: () => versions(known),
    read: (path: string, blob: string) =>
      files.caches.texts.get(blob) ?? versionOnDisk(disk, path, blob) ?? versionText(files, blob, path),
  };
  const answer = await effects.queries.ask(source, text, {most: QUERY_LIMITS, signal, taint: true});
  if (!('failed' in answer)) return answer;
  const {failed, error, hint} = answer;
  return {success: false, error: hint === undefined ? error : `${error}. ${hint}`, code: codes[failed]};
}

function* versions(known: HomeFiles['known']): Generator<readonly [string, string]> {
  for (const [path, {blob}] of known) yield [path, blob];
}
