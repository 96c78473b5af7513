import {lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {isId} from '../../../formats/common/values.ts';
import {
  channelPath,
  documentPath,
  type Run,
  type RunMember,
  runPath,
  runText,
  type SetupStep,
} from '../../../formats/run.ts';
import {promptPath, type Workflow, workflowContext} from '../../../formats/workflow.ts';
import {fillVariables} from '../../../formats/workflow-variables.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {tryLock} from '../../../home/disk/lock.ts';
import {editFile} from '../../../home/edit-file.ts';
import {authorHere} from '../../../home/git/git-config.ts';
import {listFolder} from '../../../home/read.ts';
import {changeInstance, findInstance, resumeInstance} from '../instances/instances.ts';
import {redactMessage} from '../talk/redact-message.ts';
import {commitOf, type FoundWorkflow, refuseUnrunnable} from './find-workflow.ts';
import {promptFile} from './prompts.ts';
import {runStep} from './setup.ts';
import {contextPlaces, valuesOf} from './values.ts';

export interface BeginOptions {
  home: string;
  found: FoundWorkflow;
  instance: string;
  params: Record<string, string>;
  /** Where setup commands run. */
  cwd: string;
  /** Run a setup command again that failed, or whose end nobody knows. */
  retry: boolean;
  /** Called before each setup command. */
  onStep?: (step: number, of: number, shell: string) => void;
}

export interface Begun {
  run: Run;
  /** It was there already. */
  existed: boolean;
  /** The workflow file has changed since the instance began. */
  changed: boolean;
}

/** Longer names would not fit into file names. */
const LONGEST_NAME = 60;

/**
 * Create an instance and run its setup, or go on where an earlier command was interrupted. Returns once the kickoff is recorded in
 * run.yaml; the daemon posts it. A setup command that failed or was interrupted is not run again by itself.
 */
export async function beginInstance(options: BeginOptions): Promise<Begun> {
  const {home, found, instance} = options;
  const workflow = refuseUnrunnable(found);
  refuseInstanceName(instance);
  const before = findInstance(home, instance);
  if (before) refuseOther(before, found);
  const lock = tryLock(nodeDisk(home), `.agentdir/locks/run-${instance}`, 'life');
  if ('heldBy' in lock)
    throw new UserError(
      `process ${lock.heldBy.pid} is running the setup of ${instance}`,
      exit.daemon,
      'wait for it, or choose another name: --instance NAME',
    );
  try {
    const existing = findInstance(home, instance);
    const run = existing ?? (await createInstance(options, workflow));
    const changed = existing !== undefined && existing.digest !== found.digest;
    if (run.kickoff) {
      if (run.status === 'stopped') await resumeInstance(home, instance);
      return {run, existed: existing !== undefined, changed};
    }
    return {run: await setUp(options, workflow, run), existed: existing !== undefined, changed};
  } finally {
    lock.release();
  }
}

export function refuseInstanceName(instance: string): void {
  if (isId(instance) && instance.length <= LONGEST_NAME) return;
  throw new UserError(
    `not a name of an instance: ${JSON.stringify(instance.slice(0, 80))}`,
    exit.usage,
    `use at most ${LONGEST_NAME} letters, digits, ".", "_" and "-"`,
  );
}

function refuseOther({workflow, instance}: Run, {shown, file}: FoundWorkflow): void {
  if (workflow === shown || workflow === file) return;
  throw new UserError(
    `the instance ${instance} belongs to ${workflow === 'none' ? 'agents that were added by hand' : workflow}, not to ${shown}`,
    exit.failed,
    'choose another name: --instance NAME',
  );
}

async function createInstance({home, found, instance, params}: BeginOptions, workflow: Workflow): Promise<Run> {
  const context = workflowContext(workflow);
  const definitions: Run['definitions'] = {};
  const templates = new Set(listFolder(nodeDisk(home), 'templates').map(stemOf));
  for (const [name, agent] of Object.entries(workflow.agents)) {
    const {template, model, tools, description, type, limits} = agent;
    if (template !== undefined && !templates.has(template))
      throw new UserError(
        `${found.shown}: the agent ${name} has the template ${template}, which is not in templates/`,
        exit.badFile,
        'see agentdir agent',
      );
    const system_prompt = promptOf(home, found, agent.system_prompt);
    definitions[name] = {
      ...(template !== undefined && {template}),
      ...(type !== undefined && {type}),
      ...(description !== undefined && {description}),
      ...(model !== undefined && {model}),
      ...(system_prompt !== undefined && {system_prompt}),
      ...(tools ? {tools} : template === undefined ? {tools: []} : {}),
      ...(limits && {limits}),
    } satisfies RunMember;
  }
  const commit = await commitOf(found.file);
  const now = new Date().toISOString();
  const fill = (text: string) =>
    fillVariables(text, valuesOf({name: found.name, instance, params}, {channel: '', document: ''}, process.env));
  const places = contextPlaces(workflow, instance, fill);
  const run: Run = {
    workflow: found.shown,
    ...(commit !== undefined && {commit}),
    digest: found.digest,
    name: found.name,
    instance,
    status: 'running',
    started: now,
    by: await authorHere(home),
    ...(Object.keys(params).length > 0 && {params}),
    context: {
      provider: context.provider,
      channel: context.channel,
      document: context.document,
      ...(places.channel !== channelPath(instance) && {channel_link: places.channel}),
      ...(places.document !== documentPath(instance) && {document_link: places.document}),
    },
    agents: Object.fromEntries(Object.keys(workflow.agents).map(name => [name, `${name}.${instance}`])),
    definitions,
    ...(workflow.setup?.length && {
      setup: workflow.setup.map(
        ({shell, as, timeout_seconds}): SetupStep => ({
          shell,
          ...(as !== undefined && {as}),
          ...(timeout_seconds !== undefined && {timeout_seconds}),
          status: 'pending',
        }),
      ),
    }),
  };
  if (context.provider === 'file') {
    placeLink(home, places.channel, channelPath(instance));
    placeLink(home, places.document, documentPath(instance));
  }
  const path = runPath(instance);
  return editFile(home, path, () => {
    const other = findInstance(home, instance);
    if (other)
      throw new UserError(`the instance ${instance} was created meanwhile`, exit.failed, 'run the command again');
    return {expected: undefined, text: runText(run), saved: () => run};
  });
}

function promptOf(home: string, {file}: FoundWorkflow, prompt: string | undefined): string | undefined {
  const path = promptPath({system_prompt: prompt});
  return path === undefined ? prompt : readFileSync(promptFile(home, file, path), 'utf8');
}

/** A link where the workflow wants the channel or the document to be. */
function placeLink(home: string, link: string, target: string): void {
  if (link === target) return;
  const path = join(home, link);
  const to = relative(dirname(path), join(home, target));
  const there = lstatSync(path, {throwIfNoEntry: false});
  if (there?.isSymbolicLink() && readlinkSync(path) === to) return;
  if (there)
    throw new UserError(
      `${link} exists, and is not the place of this instance`,
      exit.failed,
      'remove it, or use ${{ instance }} in context.dir so that each instance has a place of its own',
    );
  mkdirSync(dirname(path), {recursive: true});
  symlinkSync(to, path);
}

/** Run the steps that have not run, then record the kickoff. Each step is recorded as started before it runs. */
async function setUp(options: BeginOptions, workflow: Workflow, created: Run): Promise<Run> {
  const {home, instance, cwd, retry, onStep} = options;
  let run = created;
  const steps = run.setup ?? [];
  const setStep = async (index: number, step: SetupStep, more: Partial<Run> = {}) => {
    run = await changeInstance(home, instance, ({setup = []}) => ({
      setup: setup.map((each, i) => (i === index ? step : each)),
      ...more,
    }));
  };
  const places = {
    channel: relative(cwd, join(home, (run.context.channel_link as string | undefined) ?? channelPath(instance))),
    document: relative(cwd, join(home, (run.context.document_link as string | undefined) ?? documentPath(instance))),
  };
  for (const [i, step] of steps.entries()) {
    if (step.status === 'done') continue;
    const {status: _, started: _s, ended: _e, exit_code: _c, output: _o, file: _f, error: _r, ...rest} = step;
    if (step.status !== 'pending' && !retry) {
      const known =
        step.status === 'failed' ? `failed: ${step.error ?? ''}` : 'was interrupted, and nobody knows what it did';
      if (step.status === 'running') {
        const error = `setup command ${i + 1} was interrupted`;
        await setStep(i, {...step, status: 'interrupted'}, {status: 'failed', error});
      }
      throw new UserError(
        `setup command ${i + 1} (${step.shell.split('\n')[0]}) ${known}`,
        exit.failed,
        `fix the cause, then run it again with --retry; or start over under another name: --instance NAME`,
      );
    }
    onStep?.(i + 1, steps.length, step.shell);
    const started = new Date().toISOString();
    await setStep(i, {...rest, status: 'running', started}, {status: 'running', error: undefined});
    const result = await runStep(step, valuesOf(run, places, process.env), {
      home,
      cwd,
      file: `.workflow/${instance}/setup-${i + 1}.txt`,
    });
    const output = redactMessage(home, result.output).content;
    const error = result.error && redactMessage(home, result.error).content;
    const words = `setup command ${i + 1} (${step.shell.split('\n')[0]}) failed: ${error ?? ''}`;
    const ended = {
      ...rest,
      ...result,
      output,
      ...(error !== undefined && {error}),
      started,
      ended: new Date().toISOString(),
    } as SetupStep;
    await setStep(i, ended, result.status === 'failed' ? {status: 'failed', error: words} : {});
    if (result.status === 'failed')
      throw new UserError(words, exit.failed, 'fix the cause, then run it again with --retry');
  }
  const values = valuesOf(run, places, process.env);
  const text = redactMessage(home, fillVariables(workflow.kickoff, values)).content;
  const tainted =
    steps.length > 0 &&
    (run.setup ?? []).some(({as, output}) => as !== undefined && output !== undefined && usesOutput(workflow, as));
  return changeInstance(home, instance, () => ({
    kickoff: {text, at: new Date().toISOString()},
    ...(tainted && {tainted: [`setup/${instance}`]}),
  }));
}

/** Whether the kickoff shows the output of a step. */
function usesOutput({kickoff}: Workflow, as: string): boolean {
  return new RegExp(`\\$\\{\\{\\s*${as.replace(/[.-]/g, '\\$&')}\\s*\\}\\}`).test(kickoff);
}
