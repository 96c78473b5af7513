import type {With} from '../agents/state/parts.ts';
import type {DocumentEdit, EditedDocument} from '../agents/state/workflows.ts';
import {documentPath, isInMemory, type Run} from '../formats/run.ts';
import {lookAgain} from '../loop/look-again.ts';
import type {PlannedWrite} from '../loop/planned-write.ts';
import type {Reconciler} from '../loop/reconciler.ts';

/** .workflow/…/notes.md: the edits of agents, each a commit of its author. */
export function documentReconciler({workflows}: With<'workflows'>): Reconciler {
  const settle = (path: string, text: string): PlannedWrite | undefined => {
    for (const change of workflows.edits.get(path)) {
      const result = change.edit(text);
      const written = () => {
        // The edit may have been withdrawn during the write.
        if (workflows.edits.remove(path, change)) change.written(result);
      };
      if ('failed' in result || result.text === text) {
        written();
        continue;
      }
      return {
        text: result.text,
        entry: {words: 'document written', cause: 'document', agent: change.agent},
        done: written,
        again: true,
      };
    }
    return undefined;
  };
  return {
    kind: 'document',
    settle: ({path, text = ''}) => settle(path, text),
    create(path) {
      const write = settle(path, '');
      // `settle` writes the further edits.
      return write && {...write, next: {after: 1}};
    },
  };
}

/** Edit the document of an instance. Resolves once the edit is durable, or to undefined if it could not be written in time. */
export function editDocument(
  {files, workflows}: With<'files' | 'workflows'>,
  run: Run,
  {agent, edit}: Pick<DocumentEdit, 'agent' | 'edit'>,
): Promise<EditedDocument | undefined> {
  const path = documentPath(run.instance);
  if (isInMemory(run)) {
    const result = edit(workflows.memoryText(path));
    if ('text' in result) workflows.setMemoryText(path, result.text);
    return Promise.resolve(result);
  }
  return new Promise(resolve => {
    const change: DocumentEdit = {
      agent,
      edit,
      written: result => {
        cancel();
        resolve(result);
      },
    };
    const cancel = files.disk.clock.after(
      PATIENCE_MS,
      () => workflows.edits.remove(path, change) && resolve(undefined),
      'held',
    );
    workflows.edits.add(path, change);
    lookAgain(files, path);
  });
}

export const PATIENCE_MS = 20_000;
