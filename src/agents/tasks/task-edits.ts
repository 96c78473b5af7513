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

/** Change a task file when it is looked at, as all are; what could not be written in time is taken back. */
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

/** So long others wait at most, while a large file is changed again and again. */
const MOST_MS = 100;

/** What one agent after the other changes in the file, each with the text that it leaves: all of it is one save. */
export function settleEdits(daemon: With<'files' | 'tasks'>, path: string, file: TaskFile): CompletedFile | undefined {
  const {files} = daemon;
  const end = files.disk.clock.monotonic() + MOST_MS;
  let current = file;
  const steps: (CompletedStep & {agent: string; said: string[]})[] = [];
  const waiting: AgentTaskEdit[] = [];
  for (const edit of daemon.tasks.edits.get(path) ?? []) {
    if (waiting.length > 0 && files.disk.clock.monotonic() > end) break;
    const edited = tryEdit(edit, current);
    if (!edited || isFailure(edited)) {
      drop(daemon.tasks, path, [edit]);
      edit.finished(edited);
      continue;
    }
    current = parseTasks(edited.text);
    waiting.push(edit);
    const before = steps.at(-1)?.agent === edit.agent ? steps.pop() : undefined;
    const said = [...(before?.said ?? []), edited.words];
    const words = said.length > 2 ? `${said[0]} and ${said.length - 1} more` : said.join('; ');
    const tasks = [...(before?.tasks ?? []), ...edited.tasks];
    steps.push({agent: edit.agent, text: edited.text, tasks, words, said});
  }
  const last = steps.pop();
  if (!last) return undefined;
  return {
    ...last,
    before: steps,
    written: () => {
      drop(daemon.tasks, path, waiting);
      for (const edit of waiting) edit.finished();
      lookAgain(files, path);
    },
  };
}

/** They are over: what is not written is made anew at the next look. */
function drop({edits}: Tasks, path: string, over: readonly AgentTaskEdit[]): void {
  const left = edits.get(path)?.filter(edit => !over.includes(edit)) ?? [];
  if (left.length > 0) edits.set(path, left);
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
