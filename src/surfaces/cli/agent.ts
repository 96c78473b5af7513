import {checkHome} from '../../check/index.ts';
import {namesOf} from '../../check/names.ts';
import {nearest, type Problem} from '../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {stemOf} from '../../formats/common/key.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import {memberOf, runPath} from '../../formats/run.ts';
import type {TemplateFile} from '../../formats/template.ts';
import {instanceAgentNames} from '../actions/instances/instances.ts';
import {loadHome} from '../actions/load-home.ts';
import {agentNamed} from '../actions/talk/read-agent.ts';
import {colors, print, printJson, printWhole, screenWidth} from '../terminal/output.ts';
import {drawBox, fitTable, labelled} from '../terminal/table.ts';
import {renderProblem} from './problem.ts';

interface Agent {
  name: string;
  path: string;
  file: Pick<TemplateFile, 'value'> & {capabilities: readonly {name: string}[]};
  problems: Problem[];
}

export function agentCommand({home: dir, name, json}: {home: string; name: string | undefined; json: boolean}): number {
  const {home, texts} = loadHome(dir, ['templates', 'workflows']);
  const problems = checkHome(home);
  const agents: Agent[] = home.templates.map(({path, file}) => ({
    name: stemOf(path),
    path,
    file,
    problems: problems.filter(p => p.file === path),
  }));
  if (name === undefined) {
    if (json) printJson(agents.map(toJson));
    else printTable(agents);
    return exit.done;
  }
  const wanted = name.replace(/^@/, '');
  const member = instanceAgentNames(dir).includes(wanted) ? memberDetail(dir, wanted) : undefined;
  if (member) {
    if (json) printJson(toJson(member));
    else printDetail(member, undefined);
    return exit.done;
  }
  const found = agents.filter(a => a.name === wanted);
  const partial = found.length > 0 ? found : agents.filter(a => a.name.includes(wanted));
  const [one] = partial;
  if (!one || new Set(partial.map(a => a.name)).size > 1) {
    const near = nearest(wanted, namesOf(home).agents());
    throw new UserError(
      one ? `"${name}" could be ${partial.map(a => a.name).join(', ')}` : `no agent "${name}"`,
      exit.usage,
      near ? `did you mean ${near}?` : 'see agentdir agent',
    );
  }
  if (json) printJson(toJson(one));
  else printDetail(one, texts.get(one.path));
  return exit.done;
}

/** An agent of a workflow instance, as its run.yaml and its template define it. */
function memberDetail(home: string, name: string): Agent {
  const {template: value} = agentNamed(home, name);
  const capabilities = value.capabilities.map(tool => ({name: tool}));
  return {name, path: runPath(memberOf(name)?.instance ?? ''), file: {value, capabilities}, problems: []};
}

function toJson({name, path, file, problems}: Agent): Record<string, unknown> {
  const {value} = file;
  const summary = {
    name,
    file: path,
    description: value?.description ?? null,
    type: value?.type ?? null,
    model: value?.model ?? null,
  };
  return {...summary, tools: file.capabilities.map(c => c.name), status: statusOf(problems), problems};
}

function statusOf(problems: readonly Problem[]): 'valid' | 'error' | 'warning' {
  if (problems.some(p => p.severity === 'error')) return 'error';
  return problems.length > 0 ? 'warning' : 'valid';
}

const marks = {valid: '✓', error: '✗', warning: '⚠'} as const;
const paints = {'✓': colors.green, '✗': colors.red, '⚠': colors.yellow} as const;

function printTable(agents: readonly Agent[]): void {
  if (agents.length === 0) {
    print('No agents. Add templates/NAME.agent.yaml or templates/NAME.agent.md, or see: agentdir init');
    return;
  }
  const rows = agents.map(({name, file, problems}) => [
    visibleLine(name),
    makeVisible(file.value?.description ?? ''),
    String(file.capabilities.length),
    marks[statusOf(problems)],
  ]);
  const render = (text: string, column: number) =>
    column === 3 ? (paints[text as keyof typeof paints]?.(text) ?? text) : text;
  printWhole(fitTable(['Name', 'Description', 'Tools', 'Status'], rows, screenWidth(), {render, words: 1}));
  const wrong = agents.filter(a => statusOf(a.problems) !== 'valid');
  if (wrong.length > 0)
    print(
      `\n${wrong.map(a => `${marks[statusOf(a.problems)]} ${visibleLine(`${a.name}: ${a.problems[0]?.message}`)}`).join('\n')}\nFor more: agentdir agent NAME`,
    );
}

function printDetail({name, path, file, problems}: Agent, text: string | undefined): void {
  const width = Math.min(100, process.stdout.isTTY ? Math.max(30, screenWidth()) : 76);
  const {value} = file;
  const words = {valid: '✓ Valid', warning: '⚠ Valid, with warnings', error: '✗ Not valid: the agent does not run'};
  const rows: [string, string | undefined][] = [
    ['Description:', value?.description],
    ['Allowed Tools:', file.capabilities.map(c => c.name).join(', ') || undefined],
    ['Model:', value?.model],
    [
      'Limits:',
      value?.limits &&
        Object.entries(value.limits)
          .map(([key, limit]) => `${key} ${limit}`)
          .join(', '),
    ],
    ['Context:', value?.context],
    ['Status:', words[statusOf(problems)]],
    ['File:', visibleLine(path)],
  ];
  const lines = rows
    .filter(([, value]) => value !== undefined)
    .flatMap(([label, value], i) => [...(i > 0 ? [''] : []), ...labelled(label, makeVisible(value ?? ''), width - 4)]);
  printWhole(drawBox(visibleLine(name), lines, width));
  for (const problem of problems) printWhole(`\n${renderProblem(problem, text)}`);
}
