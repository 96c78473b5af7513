import {nearest, type Place, type Problem, problem} from '../files/diagnostic.ts';
import {fieldOf, idsIn, type Task, type TaskFile} from '../files/task.ts';
import type {Home} from './home.ts';
import {agentHint, isKnown, type Names} from './names.ts';

/** A task and the file it stands in. */
export interface Placed {
  path: string;
  text: string;
  task: Task;
}

/** Tasks of all files by id; the first wins where an id is doubled. */
export function tasksById(files: readonly {path: string; file: TaskFile}[]): Map<string, Placed> {
  const byId = new Map<string, Placed>();
  for (const {path, file} of files) {
    for (const task of file.tasks) {
      const id = fieldOf(task, 'id');
      if (id !== undefined && !byId.has(id)) byId.set(id, {path, text: file.text, task});
    }
  }
  return byId;
}

/** Unknown names, unknown dependencies, cycles and doubled ids across all task files. */
export function checkTasks(home: Home, names: Names): Problem[] {
  const byId = tasksById(home.tasks);
  const problems: Problem[] = [];
  for (const {path, file} of home.tasks) {
    let found = 0;
    for (const task of file.tasks) {
      // Nobody reads a thousand problems of one file; a hostile one has millions.
      if (found > 1_000) break;
      const own = checkTask({path, text: file.text, task}, byId, names);
      found += own.length;
      problems.push(...own.slice(0, 100));
    }
  }
  return [...problems, ...cycles(byId)];
}

type Say = (code: Problem['code'], place: Place, message: string, hint: string) => void;

function checkTask(placed: Placed, byId: Map<string, Placed>, names: Names): Problem[] {
  const {path, task} = placed;
  const problems: Problem[] = [];
  const say: Say = (code, place, message, hint) => problems.push(problem(code, place, message, hint, path));
  const id = fieldOf(task, 'id');
  const first = id === undefined ? undefined : byId.get(id);
  if (first && first.path !== path) {
    say(
      'DUPLICATE_ID',
      fieldPlace(task, 'id'),
      `expected each id once, found "${id}" also in ${first.path}:${first.task.line}`,
      'give one of the two another id',
    );
  }
  if (isDone(task)) return problems;
  for (const name of task.names) {
    if (!isKnown(name, names))
      say(
        'UNKNOWN_AGENT',
        wordPlace(placed, `@${name}`),
        `expected a known agent or @human, got @${name}`,
        agentHint(name, names),
      );
  }
  checkAssign(task, names, say);
  for (const dependency of idsIn(fieldOf(task, 'depends_on'))) {
    const other = byId.get(dependency)?.task;
    const place = fieldPlace(task, 'depends_on');
    if (!other) {
      const near = byId.size <= 2_000 ? nearest(dependency, byId.keys()) : undefined;
      const hint = near ? `did you mean "${near}"?` : 'correct the id, or remove it from depends_on';
      say('UNKNOWN_DEPENDENCY', place, `expected the id of a task, got "${dependency}"`, hint);
    } else if (other.state === 'skipped')
      say(
        'SKIPPED_DEPENDENCY',
        place,
        `"${dependency}" was skipped, so this waits for ever`,
        'remove it from depends_on, or set that task back to [ ]',
      );
  }
  checkParent(task, byId, say);
  const late = task.names.length === 0 ? /(?:^|\s)@([A-Za-z0-9][\w.-]*)/.exec(task.title)?.[1] : undefined;
  if (late && isKnown(late, names))
    say(
      'LATE_MENTION',
      wordPlace(placed, `@${late}`),
      `"@${late}" stands in the title, so the task is assigned to nobody`,
      `write @${late} before the title: - [ ] @${late} "…"`,
    );
  return problems;
}

function isDone(task: Task): boolean {
  return task.state === 'completed' || task.state === 'skipped';
}

function checkAssign(task: Task, names: Names, say: Say): void {
  const assign = fieldOf(task, 'assign');
  if (assign === undefined) return;
  const template = /^new:([^/\s]+)$/.exec(assign)?.[1];
  if (template ? names.agents.has(template) : /^new:[^/\s]+\/\S+$/.test(assign)) return;
  say(
    'UNKNOWN_AGENT',
    fieldPlace(task, 'assign'),
    `expected "assign: new:TEMPLATE" or "new:provider/model", got "${assign}"`,
    template ? agentHint(template, names) : 'name a template or a model',
  );
}

function checkParent(task: Task, byId: Map<string, Placed>, say: Say): void {
  const named = fieldOf(task, 'parent');
  if (named === undefined) return;
  const nested = task.parent && fieldOf(task.parent, 'id');
  if (!byId.has(named))
    say(
      'UNKNOWN_PARENT',
      fieldPlace(task, 'parent'),
      `expected the id of a task, got "${named}"`,
      'correct the id, or remove the line',
    );
  else if (nested !== undefined && nested !== named) {
    say(
      'PARENT_MISMATCH',
      fieldPlace(task, 'parent'),
      `"parent: ${named}" differs from the task it is nested under, "${nested}"; the field counts`,
      'remove the line, or move the task',
    );
  }
}

function fieldPlace(task: Task, key: string): Place {
  const field = task.fields.find(other => other.key === key);
  return field ? {line: field.line, column: field.column} : {line: task.line, column: 1};
}

/** Where a word stands on the task's own line. */
function wordPlace({text, task}: Placed, word: string): Place {
  return {line: task.line, column: Math.max(0, text.slice(task.start, task.headEnd).indexOf(word)) + 1};
}

/** Each cycle of depends_on among tasks that are not done, once, named in order. Without recursion: chains may be thousands long. */
function cycles(byId: Map<string, Placed>): Problem[] {
  const problems: Problem[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const open = (id: string) => byId.has(id) && !isDone((byId.get(id) as Placed).task);
  for (const root of byId.keys()) {
    if (state.has(root) || !open(root)) continue;
    const path: {id: string; rest: string[]}[] = [];
    const enter = (id: string) => {
      state.set(id, 'open');
      path.push({id, rest: idsIn(fieldOf((byId.get(id) as Placed).task, 'depends_on')).filter(open)});
    };
    enter(root);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.rest.shift();
      if (next === undefined) {
        state.set(top.id, 'done');
        path.pop();
      } else if (state.get(next) === 'open') {
        problems.push(
          cycleProblem(
            path.slice(path.findIndex(step => step.id === next)).map(step => step.id),
            byId,
          ),
        );
      } else if (!state.has(next)) enter(next);
    }
  }
  return problems;
}

function cycleProblem(ids: string[], byId: Map<string, Placed>): Problem {
  const {path, task} = byId.get(ids[0] ?? '') as Placed;
  const shown = ids.length > 12 ? [...ids.slice(0, 6), `… ${ids.length - 12} more …`, ...ids.slice(-6)] : ids;
  const place = fieldPlace(task, 'depends_on');
  return problem(
    'DEPENDENCY_CYCLE',
    place,
    `tasks wait for each other: ${[...shown, ids[0]].join(' → ')}`,
    'remove one of these from depends_on',
    path,
  );
}
