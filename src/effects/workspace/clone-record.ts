import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

/** File in the git-dir. */
const FILE = 'agentdir-clone';

export interface CloneRecord {
  /** As in the template, without secrets. */
  clone: string;
  branch: string;
  /** Start commit; undefined if the source had none. */
  start: string | undefined;
}

export function recordClone(gitDir: string, record: CloneRecord): void {
  writeFileSync(join(gitDir, FILE), `${JSON.stringify(record)}\n`);
}

/** Undefined: the workspace is no clone. */
export function cloneOf(gitDir: string): CloneRecord | undefined {
  let text: string;
  try {
    text = readFileSync(join(gitDir, FILE), 'utf8');
  } catch {
    return undefined;
  }
  try {
    const {clone, branch, start} = JSON.parse(text) as Record<string, unknown>;
    const id = typeof start === 'string' && /^[0-9a-f]{40}$/.test(start) ? start : undefined;
    return {clone: String(clone), branch: String(branch), start: id};
  } catch {
    return {clone: '', branch: '', start: undefined};
  }
}
