import {archiveFiles} from '../agents/approvals/archive.ts';
import {policyFile} from '../agents/approvals/new-rules.ts';
import {approvalPages} from '../agents/approvals/pages.ts';
import {approvalQueue} from '../agents/approvals/queue-file.ts';
import {memoryFiles} from '../agents/calls/remember.ts';
import {slotsFile} from '../agents/inbox/due-slots.ts';
import {cursorFiles, rejectedFiles} from '../agents/inbox/inbox-cursor.ts';
import {inboxReconciler} from '../agents/inbox/inbox-look.ts';
import type {Daemon} from '../agents/state/parts.ts';
import {taskFiles} from '../agents/task-files/tasks.ts';
import {archivedSessions, sessionFiles} from '../agents/turns/session-files.ts';
import {spendFile} from '../agents/turns/spend-file.ts';
import type {Reconciler} from '../loop/reconciler.ts';
import {settingsFile} from './settings-file.ts';

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
  inboxReconciler,
  cursorFiles,
  rejectedFiles,
  slotsFile,
  spendFile,
];

export function makeReconcilers(daemon: Daemon): Reconciler[] {
  return kinds.map(make => make(daemon));
}
