import {isOpenState, type TaskFact} from '../../check/task-facts.ts';
import type {ToolOffer} from '../../effects/model/answer.ts';
import {stemOf} from '../../formats/common/key.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {assigneeIn} from '../../formats/task/task-assignee.ts';
import type {HomeFiles} from '../../loop/home-files.ts';

const MOST_AGENTS = 50;
const MOST_TASKS = 20;
const MAX_LINE_LENGTH = 160;

/**
 * The end of every system prompt: the other agents, the agent's tools and its open tasks. `task`: the task that the
 * session was created for.
 */
export function promptEnding(
  files: HomeFiles,
  agent: string,
  offered: readonly ToolOffer[],
  task: string | undefined,
): string {
  const tools = offered.map(({name}) => name);
  const parts = [
    others(files, agent),
    tools.length > 0 && `Your tools: ${tools.join(', ')}.`,
    openTasks(files, agent, task),
  ].filter(Boolean);
  return parts.length === 0 ? '' : `\n\n# What you can reach\nYou are @${agent}.\n${parts.join('\n')}\n`;
}

function others({index}: HomeFiles, agent: string): string {
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

function openTasks({index}: HomeFiles, agent: string, own: string | undefined): string {
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
