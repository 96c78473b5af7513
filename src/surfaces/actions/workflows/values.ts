import {exit, UserError} from '../../../formats/common/errors.ts';
import {channelPath, documentPath, type Run} from '../../../formats/run.ts';
import {type Workflow, type WorkflowParam, workflowContext, workflowParams} from '../../../formats/workflow.ts';
import {isEnvVariable, type VariableValues} from '../../../formats/workflow-variables.ts';

/** `--NAME value` and `--NAME=value` after the options of `agentdir run`, as the parameters of a workflow. */
export function paramsGiven(workflow: Workflow, words: readonly string[]): Record<string, string> {
  const params = workflowParams(workflow);
  const values: Record<string, string> = {};
  const rest = [...words];
  while (rest.length > 0) {
    const word = rest.shift() ?? '';
    const [, name = '', , value] = /^--([^=]+)(=([\s\S]*))?$/.exec(word) ?? [];
    const param = params.find(each => each.name === name);
    if (!param) throw unknownParam(word, params);
    if (value !== undefined) values[name] = value;
    else if (param.isFlag) values[name] = 'true';
    else {
      const next = rest.shift();
      if (next === undefined) throw new UserError(`--${name} needs a value`, exit.usage);
      values[name] = next;
    }
  }
  const missing = params.filter(({name, fallback}) => values[name] === undefined && fallback === undefined);
  if (missing.length > 0)
    throw new UserError(
      `the workflow needs ${missing.map(({name, description}) => `--${name}${description ? ` (${description})` : ''}`).join(', ')}`,
      exit.usage,
      `for example --${missing[0]?.name} VALUE`,
    );
  for (const {name, fallback} of params) values[name] ??= fallback ?? '';
  return values;
}

function unknownParam(word: string, params: readonly WorkflowParam[]): UserError {
  const known = params.map(({name}) => `--${name}`).join(', ');
  return new UserError(
    `unknown option or argument "${word}"`,
    exit.usage,
    known === '' ? 'the workflow has no parameters; see agentdir run --help' : `the workflow has ${known}`,
  );
}

/** What the variables of an instance stand for. Outputs of setup commands are text from outside. */
export function valuesOf(
  run: Pick<Run, 'name' | 'instance' | 'params' | 'setup'>,
  paths: {channel: string; document: string},
  env: NodeJS.ProcessEnv,
): VariableValues {
  const values = new Map<string, string>([
    ['workflow.name', run.name],
    ['workflow.instance', run.instance],
    ['instance', run.instance],
    ['context.channel', paths.channel],
    ['context.document', paths.document],
  ]);
  for (const [name, value] of Object.entries(run.params ?? {})) {
    values.set(`params.${name}`, value);
    if (!values.has(name)) values.set(name, value);
  }
  const outputs = new Map(
    (run.setup ?? []).flatMap(({as, output}) => (as === undefined || output === undefined ? [] : [[as, output]])),
  );
  return name => {
    const output = outputs.get(name);
    if (output !== undefined) return {text: output, outside: true};
    const value = values.get(name) ?? (isEnvVariable(name) ? (env[name.slice('env.'.length)] ?? '') : undefined);
    return value === undefined ? undefined : {text: value.replaceAll('\0', '')};
  };
}

/** The places of channel and document that a person sees: links, if the workflow wants them elsewhere. */
export function contextPlaces(
  workflow: Workflow,
  instance: string,
  fill: (text: string) => string,
): {channel: string; document: string} {
  const {dir, channelFile, documentFile} = workflowContext(workflow);
  const folder = dir === undefined ? `.workflow/${instance}` : fill(dir).replace(/^\.\//, '').replace(/\/+$/, '');
  const at = (file: string | undefined, usual: string) =>
    file === undefined && dir === undefined
      ? usual
      : `${folder}/${fill(file ?? usual.slice(usual.lastIndexOf('/') + 1))}`;
  return {channel: at(channelFile, channelPath(instance)), document: at(documentFile, documentPath(instance))};
}
