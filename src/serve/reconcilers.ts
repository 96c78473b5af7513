import {archiveFiles} from './approvals/archive.ts';
import {policyFile} from './approvals/new-rules.ts';
import {approvalPages} from './approvals/pages.ts';
import {approvalQueue} from './approvals/queue-file.ts';
import {memoryFiles} from './calls/remember.ts';
import {slotsFile} from './inbox/due-slots.ts';
import {cursorFiles, rejectedFiles} from './inbox/inbox-cursor.ts';
import {inboxFiles} from './inbox/inbox-look.ts';
import type {Daemon} from './parts.ts';
import type {Reconciler} from './reconciler.ts';
import {settingsFile} from './settings-file.ts';
import {taskFiles} from './tasks/tasks.ts';
import {archivedSessions, sessionFiles} from './turns/session-files.ts';
import {spendFile} from './turns/spend-file.ts';

/** What the daemon does about each kind of file. A new kind is a line here; of two that own a path the first is asked. */
const kinds: readonly ((daemon: Daemon) => Reconciler)[] = [
  archivedSessions,
  sessionFiles,
  approvalQueue,
  archiveFiles,
  taskFiles,
  approvalPages,
  policyFile,
  settingsFile,
  memoryFiles,
  inboxFiles,
  cursorFiles,
  rejectedFiles,
  slotsFile,
  spendFile,
];

export function makeReconcilers(daemon: Daemon): Reconciler[] {
  return kinds.map(make => make(daemon));
}
