import {isFailure} from '../../effects/tools/failure.ts';
import type {ToolResult} from '../../effects/tools/tool.ts';
import {blocks} from '../../files/diagnostic.ts';
import {kindOf} from '../../files/key.ts';
import type {Call} from '../../files/session/session-schema.ts';
import type {Completed} from '../../reconcile/complete.ts';
import {withNote} from '../../reconcile/note.ts';
import {type Cancel, timestamp} from '../../store/clock.ts';
import {linkTarget} from '../../store/read.ts';
import {lookAgain} from '../look-again.ts';
import type {Note, Serving} from '../serving.ts';

const PATIENCE_MS = 20_000;

/** The file is written when it is looked at, as all are; a note that could not be written in time is taken back. */
export async function remember(
  serving: Serving,
  {agent}: {agent: string},
  {approval}: Call,
  {file: path, text}: {file: string; text: string},
): Promise<ToolResult> {
  const problem = notWritable(serving, path);
  if (problem !== undefined) return {success: false, code: 'FAILED', error: `${path} ${problem}`};
  const notes = serving.notes.get(path) ?? [];
  serving.notes.set(path, notes);
  let cancel: Cancel | undefined;
  const result = await new Promise<ToolResult>(resolve => {
    const note: Note = {text, agent, approval, written: () => resolve({success: true, path})};
    notes.push(note);
    cancel = serving.clock.after(
      PATIENCE_MS,
      () => {
        const at = notes.indexOf(note);
        if (at === -1) return;
        notes.splice(at, 1);
        resolve({success: false, code: 'FAILED', error: `${path} could not be written; see agentdir status`});
      },
      'held',
    );
    lookAgain(serving, path);
  });
  cancel?.();
  return isFailure(result) ? serving.redact.value(result) : result;
}

function notWritable({disk, index}: Serving, path: string): string | undefined {
  if (kindOf(path) !== 'memory') return 'is not a file of the memory';
  const parts = path.split('/');
  const link = parts.map((_, i) => parts.slice(0, i + 1).join('/')).find(way => linkTarget(disk, way) !== undefined);
  if (link !== undefined)
    return `${link === path ? 'is' : `is below ${link},`} a link, and nothing is written through it`;
  return blocks(index.problems(path)) ? 'has errors; see agentdir check' : undefined;
}

/** The text with the notes that are to be added to it. */
export function settleMemory({notes, clock}: Serving, path: string, text: string): Completed | undefined {
  const due = notes.get(path);
  if (!due?.length) return undefined;
  const now = timestamp(clock);
  const [first] = due;
  const taken = due.slice();
  const result = taken.reduce((before, {text, agent}) => withNote(before, {text, agent, day: now.slice(0, 10)}), text);
  return {
    text: result,
    words: `noted by ${[...new Set(taken.map(({agent}) => agent))].join(', ')}`,
    tasks: [],
    approvals: taken.flatMap(({approval}) => approval ?? []),
    ...(first && taken.every(({agent}) => agent === first.agent) && {agent: first.agent}),
    written: () => {
      for (const note of taken) {
        // It may have been taken back while it was written.
        const at = due.indexOf(note);
        if (at !== -1) due.splice(at, 1);
        note.written();
      }
    },
  };
}
