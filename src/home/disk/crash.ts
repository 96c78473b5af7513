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
] as const;
export type CrashLabel = (typeof crashLabels)[number];

const [wanted, count] = (process.env.AGENTDIR_CRASH_AT ?? '').split(':');
let left = Number(count ?? 1) || 1;
if (wanted && !(crashLabels as readonly string[]).includes(wanted))
  throw new Error(`AGENTDIR_CRASH_AT names no label: ${wanted}; there are ${crashLabels.join(', ')}`);

/** AGENTDIR_CRASH_AT=label:n kills this process as a power cut would, at the n-th passage of that label. */
export function crashPoint(label: CrashLabel): void {
  if (label !== wanted || --left > 0) return;
  process.kill(process.pid, 'SIGKILL');
  // Nothing may happen after, however late the signal comes.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
