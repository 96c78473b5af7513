import {itemFacts} from '../../check/approval-facts.ts';
import type {Need} from '../../check/need.ts';
import {taskFacts} from '../../check/task-facts.ts';
import {waitingFor} from '../../check/waiting.ts';
import {APPROVALS_FILE, readApprovalItems} from '../../formats/approval/approval-item.ts';
import {sessionStatuses} from '../../formats/session/session-status.ts';
import {parseTasks} from '../../formats/task/task-parse.ts';
import type {Waiting} from '../../formats/waiting.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../home/read.ts';
import {type SessionFile, sessionHead} from '../../home/session-files.ts';

/** A quick summary of a home. */
export interface HomeSummary {
  agents: number;
  tasks: number;
  sessions: Record<string, number>;
  needs: number;
  approvals: number;
  waiting: Waiting;
}

/** Reads only the heads of sessions, so that large homes are fast. */
export function summarizeHome(home: string, files: readonly SessionFile[]): HomeSummary {
  const sessions: Record<string, number> = {};
  const ids = new Set<string | undefined>();
  const failed: (Need & {path: string})[] = [];
  for (const {id, path} of files) {
    const head = sessionHead(home, path) ?? '';
    const status = statusIn(head);
    sessions[status] = (sessions[status] ?? 0) + 1;
    if (status === 'error') failed.push(failure(id, path));
    ids.add(id).add(/^session_id:[ \t]*["']?([\w.-]+)/m.exec(head)?.[1]);
  }
  const {count, needs, isDone} = skimTasks(home);
  const waiting = needs.filter(({after = [], left}) => after.every(isDone) && (left === undefined || !ids.has(left)));
  return {
    agents: listFolder(nodeDisk(home), 'templates').length,
    tasks: count,
    sessions,
    needs: waiting.length + failed.length,
    approvals: waiting.filter(({what}) => what === 'approval').length,
    waiting: waitingFor([...waiting, ...failed], []),
  };
}

/** The head of a session does not say what the error was. */
function failure(id: string, path: string): Need & {path: string} {
  return {what: 'session', id, title: 'see its error', line: 1, since: null, state: 'error', path};
}

const known: ReadonlySet<string> = new Set(sessionStatuses);

function statusIn(head: string): string {
  const status = /^status:[ \t]*["']?(\w+)/m.exec(head)?.[1] ?? '';
  return known.has(status) ? status : 'new';
}

function skimTasks(home: string): {count: number; needs: (Need & {path: string})[]; isDone: (id: string) => boolean} {
  const needs: (Need & {path: string})[] = [];
  const done = new Set<string>();
  let count = 0;
  for (const path of listFolder(nodeDisk(home), 'tasks')) {
    if (path.startsWith('tasks/archive/approvals-')) continue;
    const read = readHomeFile(nodeDisk(home), path);
    if (!read || !('text' in read)) continue;
    const file = parseTasks(read.text);
    if (path === APPROVALS_FILE) {
      needs.push(...(itemFacts(path, readApprovalItems(file)).needs ?? []).map(need => ({...need, path})));
      continue;
    }
    const facts = taskFacts(file);
    count += facts.counts.tasks;
    needs.push(...facts.needs.map(need => ({...need, path})));
    for (const {id, state} of facts.tasks) if (id !== undefined && state === 'completed') done.add(id);
  }
  return {count, needs, isDone: id => done.has(id)};
}
