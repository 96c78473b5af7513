import {isUnrecorded, type Request} from '../../../check/approval-row.ts';
import {APPROVALS_FILE, queueProblems, readApprovalItems} from '../../../formats/approval/approval-item.ts';
import {hasErrors, type Problem} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {fieldOf, type TaskFile} from '../../../formats/task/task.ts';
import {parseTasks} from '../../../formats/task/task-parse.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {fileError} from '../talk/file-error.ts';
import {oneOf} from '../talk/one-of.ts';
import {pageDecision} from './page.ts';

export {isUnrecorded, type Request} from '../../../check/approval-row.ts';

/** The approval queue as it is on disk. */
export interface ApprovalQueue {
  file: TaskFile;
  bytes: Buffer;
  /** In order of creation. */
  requests: Request[];
  problems: Problem[];
}

const EMPTY: ApprovalQueue = {file: parseTasks(''), bytes: Buffer.alloc(0), requests: [], problems: []};

/** Throws if unreadable. A missing queue is empty. */
export function readQueue(home: string, path = APPROVALS_FILE): ApprovalQueue {
  const read = readHomeFile(nodeDisk(home), path);
  if (!read) return EMPTY;
  if (!('text' in read)) throw fileError(path, [read.problem]);
  const file = parseTasks(read.text);
  const {items, problems} = readApprovalItems(file);
  const requests = items.flatMap(item => (item.id === undefined ? [] : [{...item, id: item.id, path}]));
  return {
    file,
    bytes: read.bytes,
    requests: sorted(requests),
    problems: [...queueProblems(file.problems), ...problems],
  };
}

function sorted(requests: Request[]): Request[] {
  const at = new Map(requests.map(request => [request, fieldOf(request.task, 'created') ?? '']));
  const key = (request: Request) => at.get(request) ?? '';
  return requests.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.task.line - b.task.line));
}

/** Throws if the queue has errors. */
export function refuseBrokenQueue({problems}: ApprovalQueue): void {
  if (hasErrors(problems)) throw fileError(APPROVALS_FILE, problems);
}

/** Requests in the archive. */
export function readArchive(home: string): Request[] {
  const paths = listFolder(nodeDisk(home), 'tasks/archive').filter(path => path.startsWith('tasks/archive/approvals-'));
  return paths.sort().flatMap(path => readQueue(home, path).requests);
}

/** Not decided in the queue or on the page. */
export function isUndecided(home: string, request: Request): boolean {
  return isUnrecorded(request) && request.decision === undefined && pageDecision(home, request.id) === undefined;
}

export function isExpired({task}: Request, now: number): boolean {
  return Date.parse(fieldOf(task, 'expires') ?? '') <= now;
}

/** Resolves unique parts of ids; decided requests too, to report their outcome. */
export function findRequests(home: string, wanted: readonly string[]): Request[] {
  const {requests} = readQueue(home);
  const open = requests.filter(request => isUnrecorded(request) && request.decision === undefined).map(({id}) => id);
  const near = wanted.every(part => part !== '' && open.some(id => id.includes(part)));
  const all = near ? requests : [...requests, ...readArchive(home)];
  const found = wanted.map(part => {
    const known = all.some(({id}) => id === part) || !open.some(id => id.includes(part)) ? all.map(({id}) => id) : open;
    const id = oneOf('approval', part, known, 'see agentdir approvals');
    return all.find(request => request.id === id) as Request;
  });
  return [...new Map(found.map(request => [request.id, request])).values()];
}

export function requestOf({requests}: ApprovalQueue, id: string): Request | undefined {
  const [first, second] = requests.filter(request => request.id === id);
  if (second)
    throw new UserError(
      `${APPROVALS_FILE} has two items with the id ${id}`,
      exit.badFile,
      'remove one of them: agentdir check',
    );
  return first;
}
