import {basename} from 'node:path';
import {exit} from '../../formats/common/errors.ts';
import {makeVisible} from '../../formats/common/visible.ts';
import {listInstances} from '../actions/instances/instances.ts';
import {type AgentRow, agentRows} from '../actions/list/agent-list.ts';
import {agentName} from '../actions/talk/find-agent.ts';
import {type SessionRow, sessionRows} from '../actions/talk/rows.ts';
import {colors, plural, print, printJson, printWhole, screenWidth} from '../terminal/output.ts';
import {cutToWidth, fitTable, textWidth} from '../terminal/table.ts';
import {ago} from './short-text.ts';

export interface ListOptions {
  home: string;
  agent: string | undefined;
  status: string | undefined;
  /** Also agents and sessions that were for one piece of work, which is done. */
  all: boolean;
  json: boolean;
}

/** On a terminal; --json lists them all. */
const MAX_SESSIONS_SHOWN = 50;

export async function listCommand({home, agent: wanted, status, all, json}: ListOptions): Promise<number> {
  const only = wanted === undefined ? undefined : agentName(home, wanted);
  const rows = sessionRows(home, only);
  const every = agentRows(home, rows).filter(({id}) => only === undefined || id === only);
  const done = all || only !== undefined ? NONE_DONE : await doneAgents(home, every);
  const agents = every.filter(({id}) => !done.has(id));
  const isOver = (row: SessionRow) =>
    done.has(row.agent?.split('@')[0] ?? '') || (row.ephemeral && row.status === 'completed');
  const sessions = rows.filter(row => (status === undefined ? all || !isOver(row) : row.status === status));
  if (json) printJson({agents, sessions, instances: only === undefined ? listInstances(home) : []});
  else {
    if (status === undefined) printAgents(agents);
    printSessions(sessions, status);
  }
  return exit.done;
}

/** Sessions without agents; archived ones with `all`. */
export function sessionsCommand({
  home,
  agent,
  all,
  json,
}: {
  home: string;
  agent: string | undefined;
  all: boolean;
  json: boolean;
}): number {
  const only = agent === undefined ? undefined : agentName(home, agent);
  const sessions = sessionRows(home, only).filter(({file}) => all || !file.startsWith('sessions/archive/'));
  if (json) printJson(sessions);
  else printSessions(sessions, undefined);
  return exit.done;
}

const NONE_DONE: ReadonlySet<string> = new Set();

/** Ephemeral agents that have nothing left to do. Task files are read only if there may be some. */
async function doneAgents(home: string, agents: readonly AgentRow[]): Promise<ReadonlySet<string>> {
  if (agents.every(({kind}) => kind === 'persistent')) return NONE_DONE;
  const {agentStatesOf} = await import('../actions/agents/agent-rows.ts');
  return new Set(agentStatesOf(home).flatMap(({id, status}) => (status === 'done' ? [id] : [])));
}

const MOST_DESCRIPTION = 60;

function printAgents(agents: readonly AgentRow[]): void {
  if (agents.length === 0) {
    print('No agents. Add templates/NAME.agent.yaml, or see: agentdir init');
    return;
  }
  const head = ['NAME', 'SOURCE', 'STATUS', 'MODEL', 'SESSIONS', 'DESCRIPTION'];
  const rows = agents.map(({name, source, status, model, sessions, description}) => [
    makeVisible(name),
    source === null ? '(standalone)' : makeVisible(basename(source)),
    status,
    makeVisible(model ?? ''),
    Object.entries(sessions)
      .map(([of, count]) => `${count} ${of}`)
      .join(', ') || '0',
    makeVisible(description ?? ''),
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map(row => textWidth(row[i] ?? ''))));
  const shown = shownColumns(widths);
  const line = (row: readonly string[], painted: (text: string, column: number) => string) =>
    shown
      .map(i => {
        const text = i === DESCRIPTION ? cutToWidth(row[i] ?? '', MOST_DESCRIPTION) : (row[i] ?? '');
        return painted(text, i) + ' '.repeat(Math.max(0, (widths[i] ?? 0) - textWidth(text)));
      })
      .join('  ')
      .trimEnd();
  printWhole(line(head, text => colors.bold(text)));
  for (const row of rows) printWhole(line(row, paintColumn));
  print('');
}

const [STATUS, DESCRIPTION] = [2, 5];

/** On a narrow screen, the description goes first, then the model, the source and the sessions. */
function shownColumns(widths: readonly number[]): number[] {
  let shown = widths.map((_, i) => i);
  const width = () =>
    shown.reduce((sum, i) => sum + 2 + Math.min(widths[i] ?? 0, i === DESCRIPTION ? MOST_DESCRIPTION : Infinity), -2);
  for (const spare of [DESCRIPTION, 3, 1, 4]) if (width() > screenWidth()) shown = shown.filter(i => i !== spare);
  return shown;
}

function paintColumn(text: string, column: number): string {
  return column === STATUS ? paint(text) : column === DESCRIPTION ? colors.dim(text) : text;
}

function printSessions(sessions: readonly SessionRow[], status: string | undefined): void {
  if (sessions.length === 0) {
    print(status ? `No sessions with status ${status}.` : 'No sessions. Start one: agentdir send "Is Redis up?"');
    return;
  }
  const shown = process.stdout.isTTY ? sessions.slice(0, MAX_SESSIONS_SHOWN) : sessions;
  printWhole(tableOf(shown));
  const more = sessions.length - shown.length;
  if (more > 0)
    print(colors.dim(`and ${plural(more, 'older session')}: filter with --agent or --status, or use --json`));
  const waiting = sessions.filter(row => row.status === 'waiting').length;
  if (waiting > 0)
    print(`${plural(waiting, 'session')} wait${waiting === 1 ? 's' : ''} for your decision: agentdir approvals`);
  if (shown.some(row => row.shared)) print(colors.dim('* receives messages sent to the agent'));
}

function tableOf(sessions: readonly SessionRow[]): string {
  const now = Date.now();
  const time = (iso: string | null) => (iso === null ? '' : process.stdout.isTTY ? ago(iso, now) : iso);
  const rows = sessions.map(row => [
    makeVisible(row.id) + (row.shared ? ' *' : ''),
    makeVisible(row.agent ?? ''),
    row.status,
    String(row.messages),
    time(row.updated),
    makeVisible(row.last ?? ''),
  ]);
  const head = ['Session', 'Agent', 'Status', 'Messages', 'Updated', 'Last message'];
  const render = (text: string, column: number) => (column === 2 ? paint(text) : text);
  return fitTable(head, rows, screenWidth(), {render, spare: [1, 5], whole: [0]});
}

const paints: Record<string, (text: string) => string> = {
  active: colors.cyan,
  running: colors.cyan,
  stopped: colors.yellow,
  failed: colors.red,
  waiting: colors.yellow,
  paused: colors.yellow,
  error: colors.red,
  wrong: colors.red,
  completed: colors.dim,
};

function paint(status: string): string {
  return (paints[status] ?? (text => text))(status);
}
