import {exit, UserError} from '../../formats/common/errors.ts';
import {MAIL_CURSORS, type MailCursor, mailCursorsText, parseMailCursors} from '../../formats/mail-cursors.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {editFile} from '../../home/edit-file.ts';
import {readHomeFile} from '../../home/read.ts';

/** The position in a mailbox; undefined if it was never read. */
export function cursorOf(home: string, mailbox: string): MailCursor | undefined {
  return read(home).mailboxes[mailbox];
}

export async function moveCursor(home: string, mailbox: string, cursor: MailCursor): Promise<void> {
  await editFile(home, MAIL_CURSORS, () => {
    const {bytes, mailboxes} = read(home);
    return {expected: bytes, text: mailCursorsText({...mailboxes, [mailbox]: cursor}), saved: () => undefined};
  });
}

function read(home: string): {bytes: Buffer | undefined; mailboxes: Record<string, MailCursor>} {
  const file = readHomeFile(nodeDisk(home), MAIL_CURSORS);
  if (!file) return {bytes: undefined, mailboxes: {}};
  const parsed = 'text' in file ? parseMailCursors(file.text) : undefined;
  // Overwriting it would lose or repeat mails.
  if (!parsed?.value || !file.bytes)
    throw new UserError(
      `${MAIL_CURSORS} cannot be read: ${parsed?.problems[0]?.message ?? 'it is not text'}`,
      exit.badFile,
      `put it back as it was: git checkout ${MAIL_CURSORS}`,
    );
  return {bytes: file.bytes, mailboxes: parsed.value.mailboxes};
}
