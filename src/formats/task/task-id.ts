import {createHash, randomBytes} from 'node:crypto';

const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';

/** Id for a new task: 60 random bits, in letters and digits that are hard to misread. */
export function newTaskId(): string {
  return idOf(randomBytes(12));
}

/** Id of a task that a call creates; the same each time that call is made. */
export function taskIdFor(call: string, index: number): string {
  return idOf(createHash('sha256').update(`${call}/${index}`).digest().subarray(0, 12));
}

function idOf(bytes: Buffer): string {
  return `task-${[...bytes].map(byte => LETTERS[byte % 32]).join('')}`;
}
