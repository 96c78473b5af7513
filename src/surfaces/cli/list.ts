import {exit} from '../../formats/common/errors.ts';
import {makeVisible} from '../../formats/common/visible.ts';
import {agentName} from '../actions/talk/find-agent.ts';
import {type AgentRow, agentRows, type SessionRow, sessionRows} from '../actions/talk/rows.ts';
import {colors, plural, print, printJson, printWhole, screenWidth} from '../terminal/output.ts';
import {cutToWidth, fitTable} from '../terminal/table.ts';
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
  if (json) printJson({agents, sessions});
  else {
    if (status === undefined) printAgents(agents);
    printSessions(sessions, status);
  }
  return exit.done;
}

const NONE_DONE: ReadonlySet<string> = new Set();

/** Ephemeral agents that have nothing left to do. Task files are read only if there may be some. */
async function doneAgents(home: string, agents: readonly AgentRow[]): Promise<ReadonlySet<string>> {
  if (agents.every(({kind}) => kind === 'persistent')) return NONE_DONE;
  const {agentStatesOf} = await import('../actions/agents/agent-rows.ts');
  return new Set(agentStatesOf(home).flatMap(({id, status}) => (status === 'done' ? [id] : [])));
}

const WRONG = 'has errors: agentdir check';
const NONE = 'no sessions';

function printAgents(agents: readonly AgentRow[]): void {
  if (agents.length === 0) {
    print('No agents. Add templates/NAME.agent.yaml, or see: agentdir init');
    return;
  }
  const name = Math.max(...agents.map(({id}) => id.length));
  print(colors.bold('Agents'));
  const states = agents.map(({sessions, error}) => {
    const counts = Object.entries(sessions).map(([status, count]): [string, string] => [`${count} `, status]);
    if (error) return {what: colors.red(WRONG), length: WRONG.length};
    if (counts.length === 0) return {what: colors.dim(NONE), length: NONE.length};
    const painted = counts.map(([count, status]) => count + paint(status)).join(', ');
    return {what: painted, length: counts.flat().join('').length + 2 * (counts.length - 1)};
  });
  const widest = Math.max(...states.map(({length}) => length));
  const room = screenWidth() - name - widest - 6;
  for (const [i, {what, length}] of states.entries()) {
    const {id = '', description} = agents[i] ?? {};
    const about = room > 20 ? colors.dim(cutToWidth(makeVisible(description ?? ''), room)) : '';
    print(`  ${id.padEnd(name)}  ${about === '' ? what : `${what}${' '.repeat(widest - length)}  ${about}`}`);
  }
  print('');
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
  waiting: colors.yellow,
  paused: colors.yellow,
  error: colors.red,
  wrong: colors.red,
  completed: colors.dim,
};

function paint(status: string): string {
  return (paints[status] ?? (text => text))(status);
}
