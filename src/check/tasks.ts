import {nearest, type Place, type Problem, problem} from '../formats/common/diagnostic.ts';
import {jsonText} from '../formats/common/visible.ts';
import {assigneeIn} from '../formats/task/task-assignee.ts';
import type {Look} from './look.ts';
import {agentHint, assigneeFault, type Names, namesSeen} from './names.ts';
import {isOpenState, sessionAtWork, type TaskFact} from './task-facts.ts';

/** Limits the report: a hostile file has millions of problems. */
const MAX_PROBLEMS = {ofTask: 100, ofFile: 1_000};

/** Report unknown names and dependencies, cycles, duplicate ids and missing sessions of the tasks in a file. */
export function checkTasks(path: string, tasks: readonly TaskFact[], look: Look): Problem[] {
  const problems: Problem[] = [];
  const names = namesSeen(look);
  for (const task of tasks) {
    if (problems.length > MAX_PROBLEMS.ofFile) {
      // The tasks below are not checked, so the file is not used.
      const [{task: _, ...first}] = problems as [Problem];
      problems[0] = first;
      break;
    }
    const own: Problem[] = [];
    const report: Report = (code, place, message, hint) => {
      if (own.length < MAX_PROBLEMS.ofTask) own.push({...problem(code, place, message, hint, path), task: task.line});
      return own.length < MAX_PROBLEMS.ofTask;
    };
    checkId(path, task, look, report);
    if (isOpenState(task.state)) checkOpen(task, look, names, report);
    problems.push(...own);
  }
  return [...problems, ...circleProblems(path, tasks, look.circles())];
}

/** Returns false once the limit is reached. */
type Report = (code: Problem['code'], place: Place, message: string, hint: string) => boolean;

function checkId(path: string, {id, idAt, line}: TaskFact, look: Look, report: Report): void {
  const [first] = id === undefined ? [] : look.named(`task/${id}`);
  if (first && first.path !== path)
    report(
      'DUPLICATE_ID',
      idAt ?? {line, column: 1},
      `expected each id once, found "${id}" also in ${first.path}:${first.line}`,
      'give one of the two another id',
    );
}

function checkOpen(task: TaskFact, look: Look, names: Names, report: Report): void {
  for (const [i, name] of (task.names ?? []).entries()) {
    const fault = assigneeFault(name, names);
    const place = {line: task.line, column: task.columns?.[i] ?? 1};
    if (fault && !report('UNKNOWN_AGENT', place, fault.message, fault.hint)) return;
  }
  checkAssign(task, names, report);
  for (const dependency of task.waitsFor ?? []) if (!checkDependency(task, dependency, look, report)) return;
  checkParent(task, look, report);
  checkSession(task, look, report);
  if (task.late && !assigneeFault(task.late.name, names))
    report(
      'LATE_MENTION',
      {line: task.line, column: task.late.column},
      `"@${task.late.name}" is in the title, so the task is assigned to nobody`,
      `write @${task.late.name} before the title: - [ ] @${task.late.name} "…"`,
    );
}

function checkAssign({assign, assignAt, line}: TaskFact, names: Names, report: Report): void {
  if (assign === undefined) return;
  const template = /^new:([^/\s]+)$/.exec(assign)?.[1];
  if (template ? names.hasAgent(template) : assigneeIn([], assign).model !== undefined) return;
  report(
    'UNKNOWN_AGENT',
    assignAt ?? {line, column: 1},
    `expected "assign: new:TEMPLATE" or "new:provider/model", got ${jsonText(assign)}`,
    template ? agentHint(template, names) : 'name a template or a model, in plain letters and without ".."',
  );
}

function checkDependency(task: TaskFact, dependency: string, look: Look, report: Report): boolean {
  const [other] = look.named(`task/${dependency}`);
  const place = task.waitsAt ?? {line: task.line, column: 1};
  if (!other) {
    const near = nearest(dependency, look.all('task', 2_000));
    const hint = near ? `did you mean "${near}"?` : 'correct the id, or remove it from depends_on';
    return report('UNKNOWN_DEPENDENCY', place, `expected the id of a task, got "${dependency}"`, hint);
  }
  return (
    other.state !== 'skipped' ||
    report(
      'SKIPPED_DEPENDENCY',
      place,
      `"${dependency}" was skipped, so this task waits forever`,
      'remove it from depends_on, or reset that task to [ ]',
    )
  );
}

function checkParent({parent, parentAt, nested, line}: TaskFact, look: Look, report: Report): void {
  if (parent === undefined) return;
  const place = parentAt ?? {line, column: 1};
  if (look.named(`task/${parent}`).length === 0)
    report('UNKNOWN_PARENT', place, `expected the id of a task, got "${parent}"`, 'correct the id, or remove the line');
  else if (nested !== undefined && nested !== parent)
    report(
      'PARENT_MISMATCH',
      place,
      `"parent: ${parent}" differs from the task it is nested under, "${nested}"; the field counts`,
      'remove the line, or move the task',
    );
}

/** If the session was deleted during the task, no other agent continues the task. */
function checkSession(task: TaskFact, look: Look, report: Report): void {
  const {id, line, sessionAt} = task;
  const session = sessionAtWork(task);
  if (session === undefined || look.named(`session/${session}`).length > 0) return;
  report(
    'MISSING_SESSION',
    sessionAt ?? {line, column: 1},
    `its session "${session}" no longer exists, so no agent works on it`,
    `restore the session, or reset the task to [ ]${id === undefined ? '' : `: agentdir task reopen ${id}`}`,
  );
}

function circleProblems(path: string, tasks: readonly TaskFact[], circles: Iterable<readonly string[]>): Problem[] {
  const byId = new Map<string, TaskFact>();
  return [...circles].map(ids => {
    if (byId.size === 0)
      for (const task of tasks) if (task.id !== undefined && !byId.has(task.id)) byId.set(task.id, task);
    const first = byId.get(ids[0] ?? '');
    const shown = ids.length > 12 ? [...ids.slice(0, 6), `… ${ids.length - 12} more …`, ...ids.slice(-6)] : ids;
    const found = problem(
      'DEPENDENCY_CYCLE',
      first?.waitsAt ?? {line: first?.line ?? 1, column: 1},
      `tasks wait for each other: ${[...shown, ids[0]].join(' → ')}`,
      'remove one of these from depends_on',
      path,
    );
    return {...found, task: first?.line ?? 1};
  });
}
