import {createHash} from 'node:crypto';

/** What every process of a call carries: the same for the same call of the same run of the daemon, and nothing else. */
export function markOf(run: string, session: string, call: string): string {
  return createHash('sha256')
    .update(JSON.stringify([run, session, call]))
    .digest('hex')
    .slice(0, 32);
}
