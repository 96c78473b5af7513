import type {Problem} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {isId} from '../../../formats/common/values.ts';
import {instanceOf, parseRun, type Run, runPath} from '../../../formats/run.ts';
import {editYaml} from '../../../formats/yaml/yaml-edit.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {editFile} from '../../../home/edit-file.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';

export interface InstanceRow {
  instance: string;
  /** Name of the workflow. */
  name: string;
  /** Its file. */
  workflow: string;
  /** `wrong`: run.yaml has errors. `waiting`: only a person can let it go on. */
  status: Run['status'] | 'waiting' | 'wrong';
  error: string | null;
  started: string | null;
  /** As others address them. */
  agents: string[];
}

/** All workflow instances, sorted by name. */
export function listInstances(home: string): InstanceRow[] {
  return instancesIn(home).flatMap(instance => {
    const run = readRun(home, instance);
    if (!run) return [];
    if (!('value' in run))
      return [
        {
          instance,
          name: instance,
          workflow: '',
          status: 'wrong' as const,
          error: run.problem.message,
          started: null,
          agents: [],
        },
      ];
    return [rowOf(run.value)];
  });
}

function rowOf(run: Run): InstanceRow {
  const {instance, name, workflow, error, started} = run;
  const agents = Object.keys(run.agents).map(agent => `${agent}@${instance}`);
  return {instance, name, workflow, status: statusOf(run), error: error ?? null, started, agents};
}

/** All workflow instances without errors, sorted by name. */
export function allRuns(home: string): Run[] {
  return instancesIn(home).flatMap(instance => {
    const run = readRun(home, instance);
    return run && 'value' in run ? [run.value] : [];
  });
}

function instancesIn(home: string): string[] {
  return listFolder(nodeDisk(home), '.workflow')
    .filter(path => /^\.workflow\/[^/]+\/run\.yaml$/.test(path))
    .map(path => instanceOf(path) ?? '')
    .sort();
}

/** The agents of all instances, as others address them. */
export function instanceAgentNames(home: string): string[] {
  return listInstances(home).flatMap(({agents}) => agents);
}

/** `waiting` if nothing is at work and something waits for a person. */
export function statusOf({status, waiting_for: waiting}: Run): Run['status'] | 'waiting' {
  return status === 'running' && (waiting?.length ?? 0) > 0 ? 'waiting' : status;
}

function readRun(
  home: string,
  instance: string,
): {value: Run; bytes: Buffer; text: string} | {problem: Problem} | undefined {
  const read = readHomeFile(nodeDisk(home), runPath(instance));
  if (!read) return undefined;
  if (!('text' in read)) return {problem: read.problem};
  const {value, problems} = parseRun(read.text);
  if (!value) return {problem: problems.find(({severity}) => severity === 'error') ?? (problems[0] as Problem)};
  return {value, bytes: read.bytes, text: read.text};
}

/** A workflow instance; undefined if there is none. Throws if its file has errors. */
export function findInstance(home: string, instance: string): Run | undefined {
  if (!isId(instance))
    throw new UserError(
      `not a name of an instance: ${JSON.stringify(instance.slice(0, 80))}`,
      exit.usage,
      'use letters, digits, ".", "_" and "-"',
    );
  const found = readRun(home, instance);
  if (!found || 'value' in found) return found?.value;
  const {line, column, message} = found.problem;
  throw new UserError(
    `${runPath(instance)}:${line}:${column}: ${message}`,
    exit.badFile,
    'all problems: agentdir check',
  );
}

/** A workflow instance. Throws if there is none. */
export function readInstance(home: string, instance: string): Run {
  const found = findInstance(home, instance);
  if (found) return found;
  const all = listInstances(home).map(each => each.instance);
  throw new UserError(
    `no workflow instance "${instance}"`,
    exit.usage,
    all.length > 0 ? `there are ${all.slice(0, 8).join(', ')}` : 'start one: agentdir run FILE',
  );
}

/** The instance that a person means: the one named, else `default`, else the only one. */
export function instanceMeant(home: string, wanted: string | undefined): Run {
  if (wanted !== undefined) return readInstance(home, wanted);
  const all = instancesIn(home);
  const [only] = all;
  if (all.includes('default') || only === undefined) return readInstance(home, 'default');
  if (all.length === 1) return readInstance(home, only);
  throw new UserError(
    `there are ${all.length} workflow instances`,
    exit.usage,
    `name one: --instance ${all.slice(0, 8).join(' or ')}`,
  );
}

/** Change keys of a run.yaml, as a person would in an editor. Keys set to undefined are removed. */
export async function changeInstance(
  home: string,
  instance: string,
  change: (run: Run) => Partial<Run> | undefined,
): Promise<Run> {
  const path = runPath(instance);
  return editFile(home, path, () => {
    const read = readRun(home, instance);
    if (!read) throw new UserError(`${path} is gone`);
    if (!('value' in read)) throw new UserError(`${path}: ${read.problem.message}`, exit.badFile, 'agentdir check');
    const keys = change(read.value) ?? {};
    let text = read.text;
    for (const [key, to] of Object.entries(keys)) {
      if (to !== undefined) text = editYaml(text, {set: [key], to});
      else if (Object.hasOwn(read.value, key)) text = editYaml(text, {remove: [key]});
    }
    const after = parseRun(text).value ?? read.value;
    return {expected: read.bytes, text, saved: () => after};
  });
}

/** Stop an instance: nothing is asked or run for its agents until it is started again. False: it was stopped before. */
export async function stopInstance(home: string, instance: string): Promise<boolean> {
  if (readInstance(home, instance).status === 'stopped') return false;
  await changeInstance(home, instance, () => ({status: 'stopped', error: undefined, waiting_for: undefined}));
  return true;
}

/** Let a stopped instance go on. */
export async function resumeInstance(home: string, instance: string): Promise<void> {
  await changeInstance(home, instance, ({status}) => (status === 'stopped' ? {status: 'running'} : undefined));
}
