import {isQueue} from '../../check/parse-file.ts';
import {exit} from '../../formats/common/errors.ts';
import {stemOf} from '../../formats/common/key.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import {cutText} from '../../formats/session/session.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {parseTasks} from '../../formats/task/task-parse.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../home/read.ts';
import {listSessions} from '../../home/session-files.ts';
import {instanceAgentNames} from '../actions/instances/instances.ts';
import {childRows} from '../actions/sessions/children.ts';
import {readSession, sessionFile} from '../actions/talk/find-session.ts';
import {oneOf, withoutOldBudgets} from '../actions/talk/one-of.ts';
import type {TaskStanding} from '../actions/tasks/standing.ts';
import {colors, print, printJson} from '../terminal/output.ts';
import {agentCommand} from './agent.ts';
import {transcript} from './transcript.ts';

interface ShowOptions {
  home: string;
  id: string;
  json: boolean;
}

interface Excerpt {
  kind: 'task' | 'approval';
  file: string;
  line: number;
  text: string;
  /** The command as edited by a person. */
  edited?: string | undefined;
}

/** Anything with an id: a session, task, approval or agent. */
export async function showCommand({home, id: wanted, json}: ShowOptions): Promise<number> {
  const sessions = listSessions(home).map(({id}) => id);
  // A whole session id needs no look at other files.
  const excerpts = sessions.includes(wanted) ? new Map<string, Excerpt[]>() : excerptsOf(home);
  const agents = [...listFolder(nodeDisk(home), 'templates').map(stemOf), ...instanceAgentNames(home)];
  const id = oneOf(
    'session, task, approval or agent',
    wanted,
    withoutOldBudgets(wanted.replace(/^@/, ''), [...new Set([...sessions, ...excerpts.keys(), ...agents])]),
    'see agentdir list, agentdir tasks',
  );
  if (sessions.includes(id)) return showSession(home, id, json);
  const found = excerpts.get(id);
  if (!found) return agentCommand({home, name: id, json});
  const task =
    found[0]?.kind === 'task' ? await (await import('../actions/tasks/standing.ts')).standingOf(home, id) : undefined;
  if (json)
    printJson({
      id,
      kind: found[0]?.kind,
      ...(task && {task: task.row, next: task.next, needed_by: task.neededBy}),
      places: found.map(({file, line, text, edited}) => ({file, line, text, edited})),
    });
  else {
    const {edited} = found.find(excerpt => excerpt.edited !== undefined) ?? {};
    if (edited !== undefined) print(`${colors.yellow('changed by a person; what runs:')} ${visibleLine(edited)}\n`);
    print(
      found
        .map(({file, line, text}) => `${colors.bold(`${file}:${line}`)}\n${makeVisible(text.trimEnd(), false)}`)
        .join('\n\n'),
    );
    if (task) tellState(task);
  }
  return exit.done;
}

/** Prints what happens next to a task. */
function tellState({row, next, neededBy}: TaskStanding): void {
  const lines = [...next, ...(neededBy.length > 0 ? [`needed by ${neededBy.join(', ')}`] : [])];
  print(`\n${colors.bold(row.state.replace('_', ' '))}${lines.map(line => `\n${visibleLine(line)}`).join('')}`);
}

function showSession(home: string, id: string, json: boolean): number {
  const file = sessionFile(home, id);
  const found = readSession(home, file);
  if (!found) return exit.failed;
  const {header, session} = found;
  const children = childRows(home, id);
  if (json)
    printJson({
      ...{kind: 'session', file: file.path, ...header},
      ...(children.length > 0 && {children}),
      messages: session.messages,
    });
  else
    print(
      transcript(id, file.path, header, session.messages, {
        older: olderMessages(home, header.segments ?? []),
        children,
      }),
    );
  return exit.done;
}

function olderMessages(home: string, segments: readonly string[]): number {
  let count = 0;
  for (const path of segments) {
    const read = readHomeFile(nodeDisk(home), path);
    count += read && 'text' in read ? (cutText(read.text)?.items.length ?? 0) : 0;
  }
  return count;
}

/** Tasks and approvals by id; the page of an approval comes before its item. */
function excerptsOf(home: string): Map<string, Excerpt[]> {
  const found = new Map<string, Excerpt[]>();
  const add = (id: string, excerpt: Excerpt) => found.set(id, [...(found.get(id) ?? []), excerpt]);
  for (const file of listFolder(nodeDisk(home), 'approvals').sort()) {
    const read = readHomeFile(nodeDisk(home), file);
    if (read && 'text' in read) add(stemOf(file), {kind: 'approval', file, line: 1, text: read.text});
  }
  for (const file of listFolder(nodeDisk(home), 'tasks').sort()) {
    const read = readHomeFile(nodeDisk(home), file);
    if (!read || !('text' in read)) continue;
    const kind = isQueue(file) ? 'approval' : 'task';
    for (const task of parseTasks(read.text).tasks) {
      const id = fieldOf(task, 'id');
      if (id === undefined) continue;
      const edited = kind === 'approval' && fieldOf(task, 'edited') === 'true' ? fieldOf(task, 'command') : undefined;
      add(id, {kind, file, line: task.line, text: read.text.slice(task.start, task.end), edited});
    }
  }
  return found;
}
