import type {CompletedFile} from '../../decide/complete.ts';
import {type CursorFile, cursorText, inboxOf, isUnread} from '../../formats/cursor-file.ts';
import {type RejectedFile, withoutEntries} from '../../formats/rejected.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {plannedWriteOf} from '../state/completed-write.ts';
import {setSaved} from '../state/inboxes.ts';
import type {With} from '../state/parts.ts';
import {releasedLine, withoutDeliveredKeys} from './inbox-batch.ts';

/** state/inbox/NAME.yaml: the cursor of each inbox. */
export function cursorReconciler(daemon: With<'files' | 'inboxes'>): Reconciler {
  return {
    kind: 'state',
    owns: path => inboxOf(path) !== undefined,
    settle: ({path, parsed}) =>
      parsed?.kind === 'cursor' ? plannedWriteOf(settleCursor(daemon, path, parsed.file), 'inbox') : undefined,
    create: path => plannedWriteOf(settleCursor(daemon, path, undefined), 'inbox'),
    // An inbox that is gone may have been renamed, and the renamed file may have more lines.
    started: () => [...daemon.files.known.keys()].flatMap(path => inboxOf(path) ?? []),
  };
}

/** inbox/rejected/: lines that could not be delivered. These files count as errors until a person fixes them. */
export function rejectedReconciler(daemon: With<'files' | 'reports' | 'current' | 'mail' | 'inboxes'>): Reconciler {
  return {
    kind: 'rejected',
    settlesWithErrors: true,
    settle: async ({path, parsed}) =>
      parsed?.kind === 'rejected'
        ? plannedWriteOf(await settleRejected(daemon, path, parsed.file), 'fill-in')
        : undefined,
  };
}

/** The current cursor, if it differs from the file. */
function settleCursor(
  {files, inboxes}: With<'files' | 'inboxes'>,
  path: string,
  file: CursorFile | undefined,
): CompletedFile | undefined {
  const inbox = inboxOf(path);
  const reading = inbox === undefined ? undefined : inboxes.get(inbox);
  // The cursor had errors, which may be fixed now.
  if (inbox !== undefined && reading && !reading.cursor && file) lookAgain(files, inbox);
  if (inbox === undefined || !reading?.cursor || (!file && isUnread(reading.cursor))) return undefined;
  const {cursor} = reading;
  const text = cursorText(cursor);
  const written = () => {
    setSaved(reading, text, cursor);
    lookAgain(files, inbox);
  };
  if (text === file?.text) {
    if (reading.saved !== text) written();
    return undefined;
  }
  const to = reading.lastDelivery ? `; the last one went to ${reading.lastDelivery.session}` : '';
  return {text, words: `read up to line ${cursor.line}${to}`, tasks: [], written};
}

/** Deliver lines that were rejected for a missing agent which exists now, and remove them from the file. */
async function settleRejected(
  daemon: With<'files' | 'reports' | 'current' | 'mail' | 'inboxes'>,
  path: string,
  file: RejectedFile,
): Promise<CompletedFile | undefined> {
  const {files, inboxes} = daemon;
  const deliveredIds = new Set(file.entries.filter(({id}) => inboxes.released.has(id)).map(({id}) => id));
  if (deliveredIds.size > 0) {
    const written = () => {
      for (const id of deliveredIds) inboxes.released.delete(id);
    };
    return {text: withoutEntries(file, deliveredIds), words: 'lines delivered', tasks: [], written};
  }
  for (const entry of file.entries) {
    if (entry.to === undefined || inboxes.releasing.has(entry.id)) continue;
    const addressed = await releasedLine(daemon, entry);
    if (!addressed) continue;
    const {letter} = addressed;
    inboxes.releasing.add(entry.id);
    const delivered = () => {
      inboxes.releasing.delete(entry.id);
      inboxes.released.add(entry.id);
      lookAgain(files, path);
    };
    const [isNew] = await withoutDeliveredKeys(daemon, [addressed]);
    if (isNew) {
      daemon.mail.post(addressed.path, {...letter, delivered});
      lookAgain(files, addressed.path);
    } else delivered();
  }
  return undefined;
}
