import {archiveReconciler} from '../agents/approvals/archive.ts';
import {policyReconciler} from '../agents/approvals/new-rules.ts';
import {approvalPageReconciler} from '../agents/approvals/pages.ts';
import {approvalQueueReconciler} from '../agents/approvals/queue-file.ts';
import {memoryReconciler} from '../agents/calls/remember.ts';
import {spawnedAgentReconciler} from '../agents/delegation/spawn-agent.ts';
import {scheduleReconciler} from '../agents/inbox/due-slots.ts';
import {cursorReconciler, rejectedReconciler} from '../agents/inbox/inbox-cursor.ts';
import {inboxReconciler} from '../agents/inbox/inbox-look.ts';
import type {Daemon} from '../agents/state/parts.ts';
import {taskReconciler} from '../agents/task-files/tasks.ts';
import {holdsReconciler} from '../agents/turns/holds-file.ts';
import {archivedSessionReconciler, sessionReconciler} from '../agents/turns/session-files.ts';
import {spendReconciler} from '../agents/turns/spend-file.ts';
import type {Reconciler} from '../loop/reconciler.ts';
import {channelReconciler} from '../workflows/channels.ts';
import {documentReconciler} from '../workflows/documents.ts';
import {runReconciler} from '../workflows/runs.ts';
import {settingsReconciler} from './settings-file.ts';

/** All reconcilers. If two own a path, the first one handles it. */
const kinds: readonly ((daemon: Daemon) => Reconciler)[] = [
  archivedSessionReconciler,
  sessionReconciler,
  approvalQueueReconciler,
  archiveReconciler,
  taskReconciler,
  approvalPageReconciler,
  policyReconciler,
  settingsReconciler,
  spawnedAgentReconciler,
  memoryReconciler,
  inboxReconciler,
  cursorReconciler,
  rejectedReconciler,
  scheduleReconciler,
  spendReconciler,
  holdsReconciler,
  runReconciler,
  channelReconciler,
  documentReconciler,
];

export function makeReconcilers(daemon: Daemon): Reconciler[] {
  return kinds.map(make => make(daemon));
}
