import {hasErrors} from '../../../formats/common/diagnostic.ts';
import {UserError} from '../../../formats/common/errors.ts';
import {HOLDS_FILE} from '../../../formats/common/key.ts';
import {type AgentHold, holdsText, parseHolds} from '../../../formats/holds-file.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {editFile} from '../../../home/edit-file.ts';
import {authorHere} from '../../../home/git/git-config.ts';
import {readHomeFile} from '../../../home/read.ts';
import {fileError} from '../talk/file-error.ts';

export type Holds = Readonly<Record<string, AgentHold>>;

/** Agents that are stopped. Throws if the file has errors. */
export function holdsIn(home: string): Holds {
  return readHolds(home).value;
}

/** Agents that are stopped; none while the file has errors, which `check` reports. */
export function soundHolds(home: string): Holds {
  try {
    return holdsIn(home);
  } catch (error) {
    if (error instanceof UserError) return {};
    throw error;
  }
}

function readHolds(home: string): {value: Holds; bytes: Buffer | undefined} {
  const read = readHomeFile(nodeDisk(home), HOLDS_FILE);
  if (!read) return {value: {}, bytes: undefined};
  if (!('text' in read)) throw fileError(HOLDS_FILE, [read.problem]);
  const file = parseHolds(read.text);
  if (hasErrors(file.problems) || !file.value) throw fileError(HOLDS_FILE, file.problems);
  return {value: file.value, bytes: read.bytes};
}

/** Stops agents. Returns those that were not stopped before. */
export async function stopAgents(home: string, names: readonly string[], why?: string): Promise<string[]> {
  const by = await authorHere(home);
  const at = new Date().toISOString();
  return changeHolds(home, before => {
    const added = names.filter(name => before[name]?.status !== 'stopped');
    const holds = added.map(name => [name, {status: 'stopped' as const, at, by, ...(why && {why})}]);
    return {after: {...before, ...Object.fromEntries(holds)}, changed: added};
  });
}

/** Lets agents work again. Returns those that were held. */
export function startAgents(home: string, names: readonly string[]): Promise<string[]> {
  return changeHolds(home, before => ({
    after: Object.fromEntries(Object.entries(before).filter(([name]) => !names.includes(name))),
    changed: names.filter(name => Object.hasOwn(before, name)),
  }));
}

async function changeHolds(
  home: string,
  change: (before: Holds) => {after: Holds; changed: string[]},
): Promise<string[]> {
  if (change(readHolds(home).value).changed.length === 0) return [];
  return editFile(home, HOLDS_FILE, () => {
    const {value, bytes} = readHolds(home);
    const {after, changed} = change(value);
    return {expected: bytes, text: holdsText(after), saved: () => changed};
  });
}
