import {isQueue} from '../../check/parse-file.ts';
import {archiveText, requestsToArchive, withoutItems} from '../../decide/archive.ts';
import type {CompletedFile} from '../../decide/complete.ts';
import type {ApprovalItem} from '../../formats/approval/approval-item.ts';
import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import type {TaskFile} from '../../formats/task/task.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {plannedWriteOf} from '../state/completed-write.ts';
import type {With} from '../state/parts.ts';

type Queue = TaskFile & {items: readonly ApprovalItem[]};

/** Remove archived requests from the queue, and hand over those that are not archived yet. */
export function archiveDecided(
  {files, approvals}: With<'files' | 'approvals'>,
  file: Queue,
): CompletedFile | undefined {
  const {index} = files;
  const archived: ApprovalItem[] = [];
  for (const [path, items] of requestsToArchive(file.items)) {
    const isThere = ({id}: ApprovalItem) => index.definitionsOf(`item/${id}`).some(found => found.path === path);
    archived.push(...items.filter(isThere));
    const missing = items.filter(item => !isThere(item));
    if (missing.length === 0) continue;
    const texts = missing.map(({id = '', task}) => [id, file.text.slice(task.start, task.end).trimEnd()] as const);
    approvals.archive.set(path, new Map(texts));
    lookAgain(files, path);
  }
  if (archived.length === 0) return undefined;
  return {text: withoutItems(file, archived), words: `${archived.length} decided moved to the archive`, tasks: []};
}

/** tasks/archive/approvals-*.task.md: finished requests. */
export function archiveReconciler(daemon: With<'files' | 'approvals'>): Reconciler {
  return {
    kind: 'tasks',
    owns: isQueue,
    keepsParsed: true,
    settle: ({path, parsed}) =>
      parsed?.kind === 'queue' ? plannedWriteOf(settleArchive(daemon, path, parsed.file), 'approval') : undefined,
    create: path => plannedWriteOf(settleArchive(daemon, path, undefined), 'approval'),
  };
}

/** Add the due requests to an archive file; undefined if it has all of them. */
function settleArchive(
  {files, approvals}: With<'files' | 'approvals'>,
  path: string,
  file: Queue | undefined,
): CompletedFile | undefined {
  const due = approvals.archive.get(path);
  if (!due) return undefined;
  const archived = new Set(file?.items.map(({id}) => id));
  const missing = [...due].filter(([id]) => !archived.has(id)).map(([, text]) => text);
  const written = () => {
    approvals.archive.delete(path);
    lookAgain(files, APPROVALS_FILE);
  };
  if (missing.length === 0) {
    written();
    return undefined;
  }
  return {text: archiveText(file?.text, path, missing), words: `${missing.length} decided`, tasks: [], written};
}
