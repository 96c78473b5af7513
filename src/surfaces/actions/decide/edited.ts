import {setPart} from '../../../formats/approval/approval-edit.ts';
import {pendingPath} from '../../../formats/approval/approval-path.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {hideAgain, makeVisible} from '../../../formats/common/visible.ts';
import {editFile} from '../../../home/edit-file.ts';
import {redactMessage} from '../talk/redact-message.ts';
import {commandNow} from './command-now.ts';
import {pendingPage} from './page.ts';
import type {Request} from './queue.ts';

/** The editable text of a request: the command of its item, a part of its page, or both. */
export interface Editable {
  where: 'item' | 'page' | 'both';
  label: string;
  text: string;
}

/** The edited text. */
export interface Edited extends Editable {
  before: string;
}

/** Undefined if nothing can be edited. */
export function editable(home: string, request: Request): Editable | undefined {
  const page = pendingPage(home, request.id);
  const label = page?.file.meta.edits;
  const now = commandNow(request, page);
  if (now && (label === undefined || label === 'Command')) {
    if ('queue' in now) return undefined;
    // Keep editing in the place that was changed before.
    const where = now.changed === undefined || now.changed === 'queue' ? 'item' : now.changed;
    return {where, label: 'Command', text: now.text};
  }
  const text = label === undefined ? undefined : page?.file.action[label.toLowerCase()];
  return label === undefined || text === undefined ? undefined : {where: 'page', label, text};
}

/** The text for the editor, with hidden characters written out. */
export function shownIn({text}: Editable): string {
  return makeVisible(text);
}

/** Reads the edited text; undefined if unchanged. Throws if it cannot be accepted. */
export function takeBack(home: string, request: Request, from: Editable, left: string): Edited | undefined {
  // Some editors write CRLF: restore LF.
  const written = from.text.includes('\r') ? left : left.replaceAll('\r\n', '\n');
  if (written.trimEnd() === shownIn(from).trimEnd()) return undefined;
  if (written.trim() === '')
    throw new UserError(
      `the edited text of ${request.id} is empty`,
      exit.failed,
      `to refuse it: agentdir reject ${request.id}`,
    );
  if (redactMessage(home, written).replaced.length > 0)
    throw new UserError('the edited text seems to contain a credential; nothing was written', exit.failed);
  // On a page, hidden characters stay written out.
  const text =
    from.where === 'page' ? makeVisible(written).replace(/\n$/, '') : hideAgain(written.trimEnd(), from.text);
  if (text === undefined)
    throw new UserError(
      'the text has hidden characters and text that looks like them: the two cannot be distinguished',
      exit.failed,
      'edit tasks/approvals.task.md itself',
    );
  return {...from, text, before: from.text};
}

/** Writes the page before the box is ticked, so an approval never covers another text. */
export async function writePart(home: string, {id}: Request, {where, label, text, before}: Edited): Promise<void> {
  if (where === 'item') return;
  await editFile(home, pendingPath(id), () => {
    const page = pendingPage(home, id);
    const shown = page?.file.action[label.toLowerCase()];
    if (!page || shown?.trimEnd() !== makeVisible(before).trimEnd())
      throw new UserError(
        `${pendingPath(id)} was changed while you edited; nothing was written`,
        exit.failed,
        `look at it again: agentdir approvals ${id}`,
      );
    return {expected: page.bytes, text: setPart(page.file.text, label, `${text}\n`), saved: () => undefined};
  });
}
