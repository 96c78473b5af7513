import type {CompletedFile, CompletedStep} from '../../decide/complete.ts';
import {isFailure} from '../../effects/tool/failure.ts';
import type {ToolFailure, ToolResult} from '../../effects/tool/tool.ts';
import {blocks} from '../../formats/common/diagnostic.ts';
import {UserError} from '../../formats/common/errors.ts';
import type {TaskFile} from '../../formats/task/task.ts';
import {parseTasks} from '../../formats/task/task-parse.ts';
import {linkTarget} from '../../home/read.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import {reportIfStuck} from '../mail/report-if-stuck.ts';
import type {With} from '../state/parts.ts';
import type {AgentTaskEdit, EditedTaskFile, Tasks} from '../state/task-news.ts';

/** Queue an edit of a task file and wait until it is written. An edit that is not written in time is withdrawn. */
export async function requestTaskEdit(
  {files, reports, tasks}: With<'files' | 'reports' | 'tasks'>,
  path: string,
  agent: string,
  make: AgentTaskEdit['make'],
  result: () => ToolResult,
): Promise<ToolResult> {
  const problem = notWritable(files, path);
  if (problem !== undefined) return {success: false, code: 'FAILED', error: `${path} ${problem}`};
  const failed = await new Promise<ToolFailure | undefined>(resolve => {
    const stop = reportIfStuck(
      files,
      () => path,
      () => {
        drop(tasks, path, [edit]);
        resolve({success: false, code: 'FAILED', error: `${path} could not be written; see agentdir status`});
      },
    );
    const finished = (failure?: ToolFailure) => {
      stop();
      resolve(failure);
    };
    const edit: AgentTaskEdit = {agent, make, finished};
    tasks.edits.set(path, [...(tasks.edits.get(path) ?? []), edit]);
    lookAgain(files, path);
  });
  return failed ? reports.redact.value(failed) : result();
}

function notWritable({disk, index}: HomeFiles, path: string): string | undefined {
  if (linkTarget(disk, path) !== undefined) return 'is a link, and nothing is written through it';
  return blocks(index.problems(path)) ? 'has errors; see agentdir check' : undefined;
}

/** Longest time spent on the edits of one file in one look. */
const MOST_MS = 100;

/** Apply the queued edits in order: one file write, with one commit per run of edits by the same agent. */
export function settleEdits(daemon: With<'files' | 'tasks'>, path: string, file: TaskFile): CompletedFile | undefined {
  const {files} = daemon;
  const end = files.disk.clock.monotonic() + MOST_MS;
  let current = file;
  const steps: (CompletedStep & {agent: string; summaries: string[]})[] = [];
  const applied: AgentTaskEdit[] = [];
  for (const edit of daemon.tasks.edits.get(path) ?? []) {
    if (applied.length > 0 && files.disk.clock.monotonic() > end) break;
    const edited = tryEdit(edit, current);
    if (!edited || isFailure(edited)) {
      drop(daemon.tasks, path, [edit]);
      edit.finished(edited);
      continue;
    }
    current = parseTasks(edited.text);
    applied.push(edit);
    const before = steps.at(-1)?.agent === edit.agent ? steps.pop() : undefined;
    const summaries = [...(before?.summaries ?? []), edited.words];
    const words = summaries.length > 2 ? `${summaries[0]} and ${summaries.length - 1} more` : summaries.join('; ');
    const tasks = [...(before?.tasks ?? []), ...edited.tasks];
    steps.push({agent: edit.agent, text: edited.text, tasks, words, summaries});
  }
  const last = steps.pop();
  if (!last) return undefined;
  return {
    ...last,
    before: steps,
    written: () => {
      drop(daemon.tasks, path, applied);
      for (const edit of applied) edit.finished();
      lookAgain(files, path);
    },
  };
}

/** Remove these edits from the queue. */
function drop({edits}: Tasks, path: string, dropped: readonly AgentTaskEdit[]): void {
  const remaining = edits.get(path)?.filter(edit => !dropped.includes(edit)) ?? [];
  if (remaining.length > 0) edits.set(path, remaining);
  else edits.delete(path);
}

function tryEdit(edit: AgentTaskEdit, file: TaskFile): EditedTaskFile | ToolFailure | undefined {
  try {
    return edit.make(file);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return {success: false, code: 'FAILED', error: [error.message, error.hint].filter(Boolean).join('; ')};
  }
}
