import {isQueue} from '../../check/parse-file.ts';
import type {ApprovalItem} from '../../files/approval/approval-item.ts';
import {APPROVALS_FILE} from '../../files/approval/approval-item.ts';
import type {TaskFile} from '../../files/task/task.ts';
import {archiveText, toArchive, withoutItems} from '../../reconcile/archive.ts';
import type {Completed} from '../../reconcile/complete.ts';
import {changeOf} from '../change.ts';
import {lookAgain} from '../look-again.ts';
import type {With} from '../parts.ts';
import type {Reconciler} from '../reconciler.ts';

type Queue = TaskFile & {items: readonly ApprovalItem[]};

/** The queue without what has been copied to the archive; what is not there yet is handed over first. */
export function leaveQueue({files, approvals}: With<'files' | 'approvals'>, file: Queue): Completed | undefined {
  const {index} = files;
  const there: ApprovalItem[] = [];
  for (const [path, items] of toArchive(file.items)) {
    const isThere = ({id}: ApprovalItem) => index.definitionsOf(`item/${id}`).some(found => found.path === path);
    there.push(...items.filter(isThere));
    const missing = items.filter(item => !isThere(item));
    if (missing.length === 0) continue;
    const texts = missing.map(({id = '', task}) => [id, file.text.slice(task.start, task.end).trimEnd()] as const);
    approvals.archive.set(path, new Map(texts));
    lookAgain(files, path);
  }
  if (there.length === 0) return undefined;
  return {text: withoutItems(file, there), words: `${there.length} decided moved to the archive`, tasks: []};
}

/** tasks/archive/approvals-*.task.md: requests that are decided and done. */
export function archiveFiles(daemon: With<'files' | 'approvals'>): Reconciler {
  return {
    kind: 'tasks',
    owns: isQueue,
    keepsParsed: true,
    settle: ({path, parsed}) =>
      parsed?.kind === 'queue' ? changeOf(settleArchive(daemon, path, parsed.file), 'approval') : undefined,
    create: path => changeOf(settleArchive(daemon, path, undefined), 'approval'),
  };
}

/** An archive with what is to go there; undefined if it has it. */
function settleArchive(
  {files, approvals}: With<'files' | 'approvals'>,
  path: string,
  file: Queue | undefined,
): Completed | undefined {
  const due = approvals.archive.get(path);
  if (!due) return undefined;
  const there = new Set(file?.items.map(({id}) => id));
  const missing = [...due].filter(([id]) => !there.has(id)).map(([, text]) => text);
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
