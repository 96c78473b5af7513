import {UserError} from '../../../formats/common/errors.ts';
import {fieldOf} from '../../../formats/task/task.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {daemonOf} from '../../../home/status.ts';
import {isUnrecorded, type Request, readArchive, readQueue} from './queue.ts';

const LOOK_MS = 40;
/** Tolerates half-saved files and a daemon that is restarting. */
const PATIENCE_MS = 3_000;

/** It ran, or never will. */
export function isOver(request: Request): boolean {
  if (fieldOf(request.task, 'outcome') !== undefined) return true;
  return !isUnrecorded(request) && request.status !== 'approved';
}

/** Outcomes that are failures. */
const FAILURE = /^(?:failed|interrupted|denied|rejected|timeout|expired|not_allowed|invalid_arguments|superseded)\b/i;

export function hasFailed({task, status}: Request): boolean {
  return FAILURE.test(fieldOf(task, 'outcome') ?? '') || /^(?:expired|withdrawn|superseded)$/.test(status ?? '');
}

export interface Outcomes {
  requests: Request[];
  stopped: 'over' | 'timeout' | 'no-daemon';
}

/** Waits until each request has an outcome. */
export async function waitForOutcomes(
  home: string,
  given: readonly Request[],
  timeoutMs: number | undefined,
): Promise<Outcomes> {
  let requests = [...given];
  let sound = performance.now();
  let served = performance.now();
  for (const end = performance.now() + (timeoutMs ?? Number.POSITIVE_INFINITY); ; ) {
    try {
      requests = lookAgain(home, requests);
      sound = performance.now();
    } catch (error) {
      if (!(error instanceof UserError) || performance.now() - sound > PATIENCE_MS) throw error;
    }
    if (requests.every(isOver)) return {requests, stopped: 'over'};
    if (performance.now() > end) return {requests, stopped: 'timeout'};
    if (daemonOf(nodeDisk(home))) served = performance.now();
    else if (performance.now() - served > PATIENCE_MS) return {requests, stopped: 'no-daemon'};
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
}

function lookAgain(home: string, requests: readonly Request[]): Request[] {
  const queue = new Map(readQueue(home).requests.map(request => [request.id, request]));
  const missing = requests.some(({id}) => !queue.has(id));
  const archive = new Map(missing ? readArchive(home).map(request => [request.id, request]) : []);
  return requests.map(request => queue.get(request.id) ?? archive.get(request.id) ?? request);
}
