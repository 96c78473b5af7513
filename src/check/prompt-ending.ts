import {stemOf} from '../formats/common/key.ts';
import {visibleLine} from '../formats/common/visible.ts';
import type {SessionHeader} from '../formats/session/session-schema.ts';
import {grouped} from '../formats/session/spent.ts';
import {assigneeIn} from '../formats/task/task-assignee.ts';
import type {TemplateValue} from '../formats/template.ts';
import type {HomeIndex} from './home-index.ts';
import {isOpenState, type TaskFact} from './task-facts.ts';

const MOST_AGENTS = 50;
const MOST_TASKS = 20;
const MAX_LINE_LENGTH = 160;

/** The system prompt as the model is sent it. `tools`: the names of those it is offered. */
export function systemPrompt(
  index: HomeIndex,
  of: {
    header: Pick<SessionHeader, 'system_prompt' | 'task'>;
    template: Pick<TemplateValue, 'system_prompt'>;
    agent: string;
    tools: readonly string[];
  },
): string {
  const {header, template, agent, tools} = of;
  return (header.system_prompt ?? template.system_prompt) + promptEnding(index, agent, tools, header.task);
}

/**
 * The end of every system prompt: the other agents, the agent's tools, limits and open tasks. `task`: the task that the session
 * was created for.
 */
function promptEnding(index: HomeIndex, agent: string, tools: readonly string[], task: string | undefined): string {
  const parts = [
    others(index, agent),
    tools.length > 0 && `Your tools: ${tools.join(', ')}.`,
    tools.includes('task') && DELEGATION,
    limits(index, agent),
    openTasks(index, agent, task),
  ].filter(Boolean);
  return parts.length === 0 ? '' : `\n\n# What you can reach\nYou are @${agent}.\n${parts.join('\n')}\n`;
}

/** For agents that may give tasks to others. Which agents there are, and what each is for, stands above. */
const DELEGATION = [
  'Giving tasks: with task, one of these agents, or another one of your own kind, works in a fresh session, and you get a summary, the files and what it took.',
  '- Delegate what is separate from your own work: a search through much text, a part that another agent is made for, parts that can be done side by side (several task calls in one answer). Do small things yourself.',
  '- Describe the whole assignment: the goal, what is known already, which files matter, what not to touch, and what to report. The agent sees nothing else, and cannot ask you.',
  '- A person may have to approve it. While you wait you are not asked; with wait: false you go on, and the result comes as a message. A result is a claim: check what matters.',
].join('\n');

function others(index: HomeIndex, agent: string): string {
  const all = index.pathsOf('template').filter(path => stemOf(path) !== agent);
  const lines = all.slice(0, MOST_AGENTS).map(path => {
    const {description, type} = index.facts(path)?.agent ?? {};
    return `- @${stemOf(path)}: ${short(description ?? type ?? '')}`;
  });
  const more = all.length > lines.length ? [`- and ${all.length - lines.length} more: see list_agents`] : [];
  if (lines.length === 0) return '';
  return [
    'Other agents. Naming one as @name in your answer sends it that answer. An agent that asks you something gets your answer by itself:',
    ...lines,
    ...more,
  ].join('\n');
}

/** The limits in the agent's template. Those of the home are a matter of all agents. */
function limits(index: HomeIndex, agent: string): string {
  const [template] = index.definitionsOf(`agent/${agent.split('@')[0]}`);
  const {turns, tokens, cost_usd} = (template && index.facts(template.path)?.limits) ?? {};
  const words = [
    turns !== undefined && `${grouped(turns)} turns for one piece of work`,
    tokens !== undefined && `${grouped(tokens)} tokens a day`,
    cost_usd !== undefined && `$${cost_usd} a day`,
  ].filter(Boolean);
  return words.length === 0 ? '' : `Your limits: ${words.join(', ')}.`;
}

function openTasks(index: HomeIndex, agent: string, own: string | undefined): string {
  const lines: string[] = [];
  let more = 0;
  const ownPath = own === undefined ? [] : index.definitionsOf(`task/${own}`).map(({path}) => path);
  for (const path of new Set([...index.links.of(agent), ...ownPath]))
    for (const task of index.facts(path)?.tasks ?? []) {
      const {id, names, assign, state, assigned} = task;
      if (id === undefined || (id !== own && state !== 'in_progress' && assigned === undefined)) continue;
      const {name, spawn} = assigneeIn(names ?? [], assign);
      if (!isOpenState(state) || (id !== own && (name !== agent || spawn))) continue;
      if (lines.length < MOST_TASKS) lines.push(lineOf(task));
      else more++;
    }
  if (lines.length === 0) return '';
  return ['Your open tasks:', ...lines, ...(more > 0 ? [`- and ${more} more: see query_tasks`] : [])].join('\n');
}

/** Hides the text of a tainted task: only the message that delivered it shows the text, and taints its session. */
function lineOf({id, state, title, priority, due, tainted}: TaskFact): string {
  const about = [state.replace('_', ' '), priority, due && `due ${short(due)}`].filter(Boolean).join(', ');
  return `- ${id} (${tainted ? state.replace('_', ' ') : about}): ${tainted ? 'see the message about it' : visibleLine(title ?? '')}`;
}

function short(text: string): string {
  const line = visibleLine(text.replace(/\s+/g, ' ').trim());
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…` : line;
}
