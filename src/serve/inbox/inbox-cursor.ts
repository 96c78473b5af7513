import {type CursorFile, cursorText, inboxOf, isUnread} from '../../files/cursor-file.ts';
import {type RejectedFile, withoutEntries} from '../../files/rejected.ts';
import type {Completed} from '../../reconcile/complete.ts';
import {lookAgain} from '../look-again.ts';
import type {Serving} from '../serving.ts';
import {newOnes, released} from './inbox-batch.ts';

/** How far an inbox is read, if that is not what the file says. */
export function settleCursor(serving: Serving, path: string, file: CursorFile | undefined): Completed | undefined {
  const inbox = inboxOf(path);
  const reading = inbox === undefined ? undefined : serving.inboxes.get(inbox);
  // It had errors, and may be mended.
  if (inbox !== undefined && reading && !reading.cursor && file) lookAgain(serving, inbox);
  if (inbox === undefined || !reading?.cursor || (!file && isUnread(reading.cursor))) return undefined;
  const {cursor} = reading;
  const text = cursorText(cursor);
  const written = () => {
    reading.saved = text;
    lookAgain(serving, inbox);
  };
  if (text === file?.text) {
    if (reading.saved !== text) written();
    return undefined;
  }
  return {text, words: `read up to line ${cursor.line}`, tasks: [], written};
}

/** Whether something is to be written there. */
export function isCursorWanted(serving: Serving, path: string): boolean {
  return settleCursor(serving, path, undefined) !== undefined;
}

/** Lines that were set aside for an agent that is there by now: they are delivered, and leave the file. */
export async function settleRejected(
  serving: Serving,
  path: string,
  file: RejectedFile,
): Promise<Completed | undefined> {
  const {inboxes} = serving;
  const gone = new Set(file.entries.filter(({id}) => inboxes.released.has(id)).map(({id}) => id));
  if (gone.size > 0) {
    const written = () => {
      for (const id of gone) inboxes.released.delete(id);
    };
    return {text: withoutEntries(file, gone), words: 'lines delivered', tasks: [], written};
  }
  for (const entry of file.entries) {
    if (entry.to === undefined || inboxes.releasing.has(entry.id)) continue;
    const addressed = await released(serving, entry);
    if (!addressed) continue;
    const {letter} = addressed;
    inboxes.releasing.add(entry.id);
    const delivered = () => {
      inboxes.releasing.delete(entry.id);
      inboxes.released.add(entry.id);
      lookAgain(serving, path);
    };
    const [isNew] = await newOnes(serving, [addressed]);
    if (isNew) {
      serving.mail.post(addressed.path, {...letter, delivered});
      lookAgain(serving, addressed.path);
    } else delivered();
  }
  return undefined;
}
