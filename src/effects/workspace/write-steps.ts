import {crashPoint} from '../../home/disk/crash.ts';
import type {Leaf} from '../../home/git/git-trees.ts';
import {type PreparedFile, prepareFile} from './write-back.ts';

/** A file that is to be something else; undefined: there is none. */
export interface FileStep {
  name: string;
  from: Leaf | undefined;
  to: Leaf | undefined;
}

export function isSubmodule(leaf: Leaf | undefined): boolean {
  return leaf?.mode === '160000';
}

/** What is on disk for it: of a submodule, nothing. */
export function fileOf(leaf: Leaf | undefined): Leaf | undefined {
  return isSubmodule(leaf) ? undefined : leaf;
}

/**
 * All of them or none: each is written beside its place before the first is moved there, and if one cannot be, those
 * before it become again what they were. `begin` is called before the first. Throws what the system says.
 */
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
    // What goes may stand where something else is to come.
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
