import {setPart} from '../../../formats/approval/approval-edit.ts';
import {pendingPath} from '../../../formats/approval/approval-path.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {hideAgain, makeVisible} from '../../../formats/common/visible.ts';
import {editFile} from '../../../home/edit-file.ts';
import {redactMessage} from '../talk/redact-message.ts';
import {commandNow} from './command-now.ts';
import {pendingPage} from './page.ts';
import type {Request} from './queue.ts';

/** The text of a request that a person may change: the command of its item, a part of its page, or that in both. */
export interface Editable {
  where: 'item' | 'page' | 'both';
  label: string;
  /** As it stands there. */
  text: string;
}

/** What they made of it. */
export interface Edited extends Editable {
  before: string;
}

/** Undefined: there is nothing to change about it. */
export function editable(home: string, request: Request): Editable | undefined {
  const page = pendingPage(home, request.id);
  const label = page?.file.meta.edits;
  const now = commandNow(request, page);
  if (now && (label === undefined || label === 'Command')) {
    if ('queue' in now) return undefined;
    // Where somebody has changed it, it is changed on.
    const where = now.changed === undefined || now.changed === 'queue' ? 'item' : now.changed;
    return {where, label: 'Command', text: now.text};
  }
  const text = label === undefined ? undefined : page?.file.action[label.toLowerCase()];
  return label === undefined || text === undefined ? undefined : {where: 'page', label, text};
}

/** The text as it is handed to an editor, nothing in it hidden. */
export function shownIn({text}: Editable): string {
  return makeVisible(text);
}

/** What came back from the editor; undefined if it is what was handed out. Throws if it cannot be taken. */
export function takeBack(home: string, request: Request, from: Editable, left: string): Edited | undefined {
  // Some editors write their own line ends: what had none of these gets none.
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
  // On a page they stay written out, as in all of it.
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

/** A part of a page is written before the box is ticked: a yes never stands beside what it was not said to. */
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
