import type {CompletedFile} from '../../decide/complete.ts';
import {withNote} from '../../decide/note.ts';
import {isFailure} from '../../effects/tool/failure.ts';
import type {ToolResult} from '../../effects/tool/tool.ts';
import {blocks} from '../../formats/common/diagnostic.ts';
import {kindOf} from '../../formats/common/key.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import {type Cancel, type Clock, timestamp} from '../../home/disk/clock.ts';
import {linkTarget} from '../../home/read.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {plannedWriteOf} from '../state/completed-write.ts';
import type {MemoryNote, Notes} from '../state/notes.ts';
import type {With} from '../state/parts.ts';

const PATIENCE_MS = 20_000;

/** Queue a note and wait until the memory reconciler has written it. A note that is not written in time is withdrawn. */
export async function addMemoryNote(
  {files, reports, notes}: With<'files' | 'reports' | 'notes'>,
  {agent}: {agent: string},
  {approval}: Call,
  {file: path, text}: {file: string; text: string},
): Promise<ToolResult> {
  const problem = notWritable(files, path);
  if (problem !== undefined) return {success: false, code: 'FAILED', error: `${path} ${problem}`};
  let cancel: Cancel | undefined;
  const result = await new Promise<ToolResult>(resolve => {
    const note: MemoryNote = {text, agent, approval, written: () => resolve({success: true, path})};
    notes.add(path, note);
    cancel = files.disk.clock.after(
      PATIENCE_MS,
      () => {
        if (notes.remove(path, note))
          resolve({success: false, code: 'FAILED', error: `${path} could not be written; see agentdir status`});
      },
      'held',
    );
    lookAgain(files, path);
  });
  cancel?.();
  return isFailure(result) ? reports.redact.value(result) : result;
}

function notWritable({disk, index}: HomeFiles, path: string): string | undefined {
  if (kindOf(path) !== 'memory') return 'is not a memory file';
  const parts = path.split('/');
  const link = parts.map((_, i) => parts.slice(0, i + 1).join('/')).find(way => linkTarget(disk, way) !== undefined);
  if (link !== undefined)
    return `${link === path ? 'is' : `is below ${link},`} a link, and nothing is written through it`;
  return blocks(index.problems(path)) ? 'has errors; see agentdir check' : undefined;
}

/** memory/: adds the agents' notes to the files. */
export function memoryReconciler({notes, files}: With<'files' | 'notes'>): Reconciler {
  const due = {notes, clock: files.disk.clock};
  return {
    kind: 'memory',
    settle: ({path, text = ''}) => plannedWriteOf(settleMemory(due, path, text), 'remember'),
    create: path => plannedWriteOf(settleMemory(due, path, ''), 'remember'),
  };
}

/** The text with the due notes appended. */
export function settleMemory(
  {notes, clock}: {notes: Notes; clock: Clock},
  path: string,
  text: string,
): CompletedFile | undefined {
  const due = notes.due(path);
  const [first] = due;
  if (!first) return undefined;
  const now = timestamp(clock);
  const result = due.reduce((before, {text, agent}) => withNote(before, {text, agent, day: now.slice(0, 10)}), text);
  return {
    text: result,
    words: `noted by ${[...new Set(due.map(({agent}) => agent))].join(', ')}`,
    tasks: [],
    approvals: due.flatMap(({approval}) => approval ?? []),
    ...(due.every(({agent}) => agent === first.agent) && {agent: first.agent}),
    written: () => {
      for (const note of due) {
        // The note may have been withdrawn during the write.
        notes.remove(path, note);
        note.written();
      }
    },
  };
}
