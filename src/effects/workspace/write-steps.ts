import {crashPoint} from '../../home/disk/crash.ts';
import type {Leaf} from '../../home/git/git-trees.ts';
import {type PreparedFile, prepareFile} from './write-back.ts';

/** Change of a file; undefined: no file. */
export interface FileStep {
  name: string;
  from: Leaf | undefined;
  to: Leaf | undefined;
}

export function isSubmodule(leaf: Leaf | undefined): boolean {
  return leaf?.mode === '160000';
}

/** The file on disk; a submodule has none. */
export function fileOf(leaf: Leaf | undefined): Leaf | undefined {
  return isSubmodule(leaf) ? undefined : leaf;
}

/** Apply all steps or none. Calls `begin` before the first move. Reverts and throws on system errors. */
export async function writeSteps(
  of: {home: string; agent: string},
  all: readonly FileStep[],
  read: (leaf: Leaf) => Promise<Buffer>,
  begin: () => void,
): Promise<void> {
  const steps = all
    .map(({name, from, to}) => ({name, from: fileOf(from), to: fileOf(to)}))
    .filter(({from, to}) => from || to);
  const become = async (name: string, leaf: Leaf | undefined) =>
    prepareFile(of, name, leaf && {bytes: await read(leaf), mode: leaf.mode});
  const ready: {step: FileStep; prepared: PreparedFile}[] = [];
  const done: FileStep[] = [];
  try {
    // Deletions first: another file may take the place.
    for (const step of steps.filter(({to}) => !to)) ready.push({step, prepared: await become(step.name, step.to)});
    for (const step of steps.filter(({to}) => to)) ready.push({step, prepared: await become(step.name, step.to)});
    begin();
    for (const {step, prepared} of ready) {
      crashPoint('move');
      prepared.put();
      done.push(step);
    }
  } catch (error) {
    for (const {prepared} of ready.slice(done.length)) prepared.drop();
    for (const {name, from} of done.reverse()) (await become(name, from)).put();
    throw error;
  }
}
