import type {AgentState, AgentStatus} from '../../check/agent-states.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {makeVisible} from '../../formats/common/visible.ts';
import {addAgent} from '../actions/agents/add-agent.ts';
import {agentStatesOf} from '../actions/agents/agent-rows.ts';
import {removeAgent} from '../actions/agents/remove-agent.ts';
import {agentName} from '../actions/talk/find-agent.ts';
import {colors, plural, print, printJson, printWhole, screenWidth} from '../terminal/output.ts';
import {fitTable} from '../terminal/table.ts';

export interface AgentsListOptions {
  home: string;
  name: string | undefined;
  all: boolean;
  json: boolean;
}

export function agentsListCommand({home, name, all, json}: AgentsListOptions): number {
  const only = name === undefined ? undefined : agentName(home, name);
  if (only?.includes('@'))
    throw new UserError(`${only} is an agent of a workflow`, exit.usage, `see: agentdir list --agent ${only}`);
  const states = agentStatesOf(home).filter(({id}) => only === undefined || id === only);
  const shown = states.filter(({status}) => all || only !== undefined || status !== 'done');
  if (json) {
    printJson(shown.map(toJson));
    return exit.done;
  }
  if (shown.length === 0) print('No agents. Add one: agentdir agents add NAME');
  else printWhole(tableOf(shown));
  const done = states.length - shown.length;
  if (done > 0)
    print(colors.dim(`and ${plural(done, 'ephemeral agent')} that ${done === 1 ? 'is' : 'are'} done: --all`));
  return exit.done;
}

function toJson({id, ...rest}: AgentState): Record<string, unknown> {
  return {name: id, ...rest};
}

const paints: Partial<Record<AgentStatus, (text: string) => string>> = {
  active: colors.cyan,
  waiting: colors.yellow,
  paused: colors.yellow,
  error: colors.red,
  stopped: colors.yellow,
  failed: colors.red,
  wrong: colors.red,
  done: colors.dim,
};

function tableOf(states: readonly AgentState[]): string {
  const rows = states.map(({id, status, model, kind, task, description}) => [
    makeVisible(id),
    status,
    makeVisible(model ?? ''),
    kind,
    task === null ? '' : makeVisible(task.title ? `${task.title} (${task.id})` : task.id),
    makeVisible(description ?? ''),
  ]);
  const render = (text: string, column: number) =>
    column === 1 ? (paints[text as AgentStatus] ?? String)(text) : text;
  const head = ['Agent', 'Status', 'Model', 'Kind', 'Current task', 'Description'];
  return fitTable(head, rows, screenWidth(), {render, spare: [5, 3], whole: [0]});
}

export interface AgentsAddOptions {
  home: string;
  name: string;
  template: string | undefined;
  model: string | undefined;
  prompt: string | undefined;
  tools: readonly string[] | undefined;
  persistent: boolean;
  json: boolean;
}

export async function agentsAddCommand({home, json, prompt, ...wanted}: AgentsAddOptions): Promise<number> {
  const {path, value, template} = await addAgent(home, {...wanted, systemPrompt: prompt});
  const {id: name, model = 'default', capabilities, ephemeral = false} = value;
  if (json) printJson({name, file: path, template, model, kind: ephemeral ? 'ephemeral' : 'persistent', capabilities});
  else
    print(
      `${colors.green('added')} ${colors.bold(name)} ${colors.dim(path)}\n  from ${template}, model ${model}; talk to it: agentdir send TEXT --to ${name}`,
    );
  return exit.done;
}

export interface AgentsRemoveOptions {
  home: string;
  name: string;
  force: boolean;
  json: boolean;
}

export function agentsRemoveCommand({home, name, force, json}: AgentsRemoveOptions): number {
  const {id, file} = removeAgent(home, name, force);
  if (json) printJson({name: id, file});
  else print(`${colors.green('removed')} ${colors.bold(id)} ${colors.dim(file)}; its sessions and files stay`);
  return exit.done;
}
