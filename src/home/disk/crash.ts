/** Places where a test may kill the process: one at every write, rename, lock and spawn. */
export const crashLabels = [
  'journal-object',
  'journal-pack',
  'journal-index-temp',
  'journal-ref-lock',
  'journal-index-lock',
  'journal-index-rename',
  'journal-ref-rename',
  'journal-unlock',
  'journal-reflog',
  'save-lock',
  'save-temp',
  'save-fsync',
  'save-keep',
  'save-rename',
  'save-check',
  'save-unlock',
  'move',
  'remove',
  'turn-ask',
  'turn-answer',
  'call-start',
  'call-end',
  'workspace-commit',
  'delivery',
  'set-aside',
  'version-append',
  'version-sync',
  'conflict-write',
  'needs-you-write',
  'cache-write',
  'spawn-git',
  'spawn-background',
  'spawn-command',
  'inbox-append',
  'inbox-appended',
  'message-sent',
  'command-note',
  'task-start',
  'task-result',
] as const;
export type CrashLabel = (typeof crashLabels)[number];

const [wanted, count] = (process.env.AGENTDIR_CRASH_AT ?? '').split(':');
let remaining = Number(count ?? 1) || 1;
if (wanted && !(crashLabels as readonly string[]).includes(wanted))
  throw new Error(`AGENTDIR_CRASH_AT has an unknown label: ${wanted}; known labels: ${crashLabels.join(', ')}`);

/** AGENTDIR_CRASH_AT=label:n kills this process with SIGKILL when it reaches that label for the n-th time. */
export function crashPoint(label: CrashLabel): void {
  if (label !== wanted || --remaining > 0) return;
  process.kill(process.pid, 'SIGKILL');
  // Block until the signal arrives: no more code may run.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
