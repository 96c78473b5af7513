import type {TaskRow} from '../../check/rows.ts';
import {exit} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import type {ReplacedSecret} from '../actions/talk/redact-message.ts';
import type {TaskStanding} from '../actions/tasks/standing.ts';
import {readTaskHome, type TaskHome} from '../actions/tasks/task-home.ts';
import {colors, note, print, printJson} from '../terminal/output.ts';
import {reportReplaced} from './given-text.ts';

export interface TaskReport {
  home: string;
  json: boolean;
  ids: readonly string[];
  /** Saved texts by path. */
  written: ReadonlyMap<string, string>;
  replaced: readonly ReplacedSecret[];
  line: (row: TaskRow) => string;
  quiet?: boolean;
}

/** Prints the change on stdout and the next step on stderr; with --json one value. */
export async function printTaskReport({home, json, ids, written, replaced, line, quiet}: TaskReport): Promise<number> {
  const daemon = daemonOf(nodeDisk(home)) !== undefined;
  const rows = await changedRows(readTaskHome(home, written), ids);
  const next = quiet ? [] : [...new Set(rows.flatMap(({next}) => next))];
  if (json) {
    const extra = replaced.length > 0 ? {replaced} : {};
    printJson({daemon, tasks: rows.map(({row}) => row), next, ...extra});
    return exit.done;
  }
  for (const {row} of rows) print(line(row));
  reportReplaced(replaced);
  for (const step of next) note(step);
  if (!daemon && !quiet) note('no daemon is running: agentdir start');
  return exit.done;
}

async function changedRows(tasks: TaskHome, ids: readonly string[]): Promise<TaskStanding[]> {
  // Load the checker after the write.
  const {standings} = await import('../actions/tasks/standing.ts');
  return standings(tasks, ids);
}

/** "completed task-7k2m: Check Redis" */
export function changedTaskLine(word: string, {id, title}: TaskRow): string {
  return `${word} ${colors.bold(visibleLine(id ?? ''))}: ${visibleLine(title)}`;
}
