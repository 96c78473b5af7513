import {createHash} from 'node:crypto';
import {existsSync, readFileSync, statSync} from 'node:fs';
import {basename, dirname, isAbsolute, join, relative, resolve} from 'node:path';
import {problemsWithin} from '../../../check/problems-within.ts';
import {inFile, type Problem} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {parseWorkflow, runsHere, type Workflow} from '../../../formats/workflow.ts';
import {git} from '../../../home/git/git.ts';
import {promptFile, promptProblems} from './prompts.ts';

/** A workflow file, wherever it is. */
export interface FoundWorkflow {
  /** Absolute. */
  file: string;
  /** As run.yaml and messages name it: relative to the home if it is in there. */
  shown: string;
  name: string;
  text: string;
  digest: string;
  /** Undefined if the file has errors. */
  value: Workflow | undefined;
  problems: Problem[];
}

/** The file that a person means: a path, or the name of a file in workflows/. `home` undefined: there is no home yet. */
export function findWorkflow(home: string | undefined, wanted: string, cwd: string): FoundWorkflow {
  const file = pathOf(home, wanted, cwd);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UserError(`cannot read ${wanted}: ${(error as Error).message}`, exit.usage);
  }
  const within = home === undefined ? undefined : relative(home, file);
  const shown = within !== undefined && !within.startsWith('..') && !isAbsolute(within) ? within : file;
  const parsed = parseWorkflow(text);
  const stem = basename(file).replace(/(?:\.workflow)?\.ya?ml$/i, '');
  const problems = inFile(shown, [
    ...parsed.problems,
    ...problemsWithin({kind: 'workflow', path: shown, file: parsed}),
    ...promptProblems(parsed, path => existsSync(promptFile(home, file, path))),
  ]);
  return {
    file,
    shown,
    text,
    name: parsed.value?.name ?? stem,
    digest: createHash('sha256').update(text).digest('hex'),
    value: parsed.value,
    problems,
  };
}

function pathOf(home: string | undefined, wanted: string, cwd: string): string {
  const given = resolve(cwd, wanted);
  if (existsSync(given) && statSync(given).isFile()) return given;
  if (home !== undefined && !/[/\\]/.test(wanted))
    for (const ending of ['', '.workflow.yaml', '.workflow.yml', '.yaml', '.yml']) {
      const path = join(home, 'workflows', wanted + ending);
      if (existsSync(path) && statSync(path).isFile()) return path;
    }
  if (home !== undefined && existsSync(join(home, wanted)) && statSync(join(home, wanted)).isFile())
    return join(home, wanted);
  throw new UserError(
    `no workflow file ${wanted}`,
    exit.usage,
    'name a file, or one in workflows/ of the home, such as: agentdir run review',
  );
}

/** Refuse a workflow that cannot be run: its file has errors, or names a backend that this version does not run. */
export function refuseUnrunnable({shown, value, problems}: FoundWorkflow): Workflow {
  const wrong = problems.find(({severity}) => severity === 'error');
  if (wrong || !value)
    throw new UserError(
      `${shown}:${wrong?.line ?? 1}:${wrong?.column ?? 1}: error ${wrong?.code ?? ''}: ${wrong?.message ?? 'the file has errors'}`,
      exit.badFile,
      wrong?.hint,
    );
  for (const [name, agent] of Object.entries(value.agents))
    if (!runsHere(agent))
      throw new UserError(
        `${shown}: the backend ${JSON.stringify(agent.backend)} of ${name} is ${problems.some(({code}) => code === 'UNKNOWN_BACKEND') ? 'unknown' : 'not run by this version'}`,
        exit.badFile,
        'remove "backend:" to run the agent here',
      );
  return value;
}

/** The last commit of a file, if it is in a repository. */
export async function commitOf(file: string): Promise<string | undefined> {
  const {code, stdout} = await git(dirname(file), ['log', '-1', '--format=%H', '--', basename(file)]);
  return code === 0 && stdout.trim() !== '' ? stdout.trim() : undefined;
}
