import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {MOST_NAMED, waitingFor} from '../../check/waiting.ts';
import {exit} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import type {Waiting, WaitingItem, WaitingKind} from '../../formats/waiting.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {listSessions, type SessionFile} from '../../home/session-files.ts';
import {type DaemonStatus, daemonOf, lastStop, readStatus} from '../../home/status.ts';
import {colors, plural, print, printJson} from '../terminal/output.ts';
import {comingIn, comingInLines} from './coming-in.ts';

type Shown = Omit<DaemonStatus, 'pid' | 'since' | 'version' | 'watching' | 'errors' | 'warnings'> &
  Partial<Omit<DaemonStatus, 'errors' | 'warnings'>> & {
    /** Null if not checked. */
    errors: number | null;
    warnings: number | null;
  };

/** With more sessions and no daemon, sessions are not checked. */
const MANY = 500;

export async function statusCommand({home, json}: {home: string; json: boolean}): Promise<number> {
  const daemon = daemonOf(nodeDisk(home));
  const stopped = daemon ? undefined : lastStop(nodeDisk(home));
  const shown: Shown = {...(await homeStatus(home)), ...(stopped && {stopped})};
  const coming = comingIn(home, Date.now());
  if (json) printJson({running: daemon !== undefined, pid: daemon?.pid ?? null, ...shown, ...coming});
  else
    for (const line of lines(home, daemon?.pid, shown, comingInLines(coming, shown.delivered ?? {}, localTime)))
      print(line);
  return daemon ? exit.done : exit.daemon;
}

/** As the daemon says; without a daemon, or while it is still starting, from the files. */
export async function homeStatus(home: string): Promise<Shown> {
  const told = readStatus(nodeDisk(home));
  const files = listSessions(home);
  if (files.length > MANY) return told ?? skimmed(home, files);
  return told ? withCredentials(home, told) : checked(home);
}

async function withCredentials(home: string, told: DaemonStatus): Promise<Shown> {
  const found = (await import('../actions/load-home.ts')).credentialsIn(home);
  if (found.length === 0) return told;
  const {warning} = waitingFor([], found);
  const {count = 0, first = []} = told.waiting?.warning ?? {};
  const both = {count: count + found.length, first: [...first, ...(warning?.first ?? [])].slice(0, MOST_NAMED)};
  return {...told, warnings: told.warnings + found.length, waiting: {...told.waiting, warning: both}};
}

async function skimmed(home: string, files: readonly SessionFile[]): Promise<Shown> {
  const {summarizeHome} = await import('./summarize-home.ts');
  return {home, ...summarizeHome(home, files), errors: null, warnings: null, troubles: []};
}

async function checked(home: string): Promise<Shown> {
  const {index} = (await import('../actions/load-home.ts')).indexHome(home);
  const problems = index.all();
  const needs = index.needs();
  const errors = problems.filter(({severity}) => severity === 'error').length;
  const sessions: Record<string, number> = {};
  for (const path of index.paths()) {
    const session = index.facts(path)?.session;
    const name = session?.status ?? 'new';
    if (session && !session.segment) sessions[name] = (sessions[name] ?? 0) + 1;
  }
  const {agents, tasks} = index.counts();
  return {
    home,
    agents,
    tasks,
    sessions,
    errors,
    warnings: problems.length - errors,
    needs: needs.length,
    approvals: needs.filter(({what}) => what === 'approval').length,
    waiting: waitingFor(needs, problems),
    troubles: [],
  };
}

function lines(home: string, pid: number | undefined, shown: Shown, coming: readonly string[]): string[] {
  const {
    agents,
    tasks,
    sessions,
    errors,
    warnings,
    needs,
    waiting = {},
    troubles,
    since,
    watching,
    stopped,
    model,
    sandbox,
  } = shown;
  const count = Object.values(sessions).reduce((sum, n) => sum + n, 0);
  const byStatus = Object.entries(sessions).map(([name, n]) => `${n} ${name}`);
  const out = [
    pid === undefined
      ? `${colors.yellow('no daemon')} serves ${colors.bold(visibleLine(home))}. Start one: agentdir start --background`
      : `${colors.green('serving')} ${colors.bold(visibleLine(home))}: process ${pid}${since ? ` since ${localTime(since)}` : ', starting'}`,
    `  ${plural(agents, 'agent')}, ${plural(count, 'session')}${byStatus.length > 0 ? ` (${byStatus.join(', ')})` : ''}, ${plural(tasks, 'task')}`,
  ];
  if (stopped) out.push(`  ${colors.red('stopped')} ${localTime(stopped.at)}: ${visibleLine(stopped.why)}`);
  if (model) out.push(`  model ${visibleLine(model)}`);
  if (sandbox)
    out.push(
      `  sandbox ${/^(none|off|not tested)/.test(sandbox) ? colors.yellow(visibleLine(sandbox)) : visibleLine(sandbox)}`,
    );
  out.push(...coming);
  if (watching === false) out.push(`  ${colors.yellow('file watching is off: changes are found by scanning')}`);
  for (const trouble of troubles) out.push(`  ${colors.yellow('waiting')} ${visibleLine(trouble.what)}`);
  if (errors === null) out.push('  too many sessions to check without a daemon: agentdir check');
  for (const kind of kinds) out.push(...waitingLines(kind, waiting[kind]));
  const any = needs + (errors ?? 0) + (warnings ?? 0) + troubles.length > 0;
  if (!any) out.push('  nothing waits for you');
  else if (existsSync(join(home, 'NEEDS_YOU.md'))) out.push(`  ${colors.dim('details: NEEDS_YOU.md')}`);
  return out;
}

/** In the order of NEEDS_YOU.md. */
const kinds = ['approval', 'session', 'error', 'task', 'stalled', 'warning'] as const;

/** How many there are, the command that helps, and the first few. */
function waitingLines(kind: WaitingKind, {count, first}: NonNullable<Waiting[WaitingKind]> = {count: 0, first: []}) {
  if (count === 0) return [];
  const more = count - first.length;
  return [
    `  ${headline(kind, count)}`,
    ...first.map(item => `    ${colors.bold(visibleLine(placeOf(item)))}  ${visibleLine(titleOf(kind, item))}`),
    ...(more > 0 ? [`    … and ${more} more`] : []),
  ];
}

function headline(kind: WaitingKind, count: number): string {
  switch (kind) {
    case 'approval':
      return `${colors.yellow(waits(count, 'approval'))}: agentdir approvals`;
    case 'session':
      return `${colors.red(`${plural(count, 'session')} ended in an error`)}: agentdir show ID`;
    case 'task':
      return `${colors.yellow(waits(count, 'task'))}: agentdir tasks`;
    case 'stalled':
      return `${colors.yellow(`${plural(count, 'task')} stalled`)}: agentdir tasks`;
    case 'error':
      return `${colors.red(plural(count, 'error'))}: agentdir check`;
    case 'warning':
      return `${plural(count, 'warning')}: agentdir check`;
  }
}

/** What to name in a command: the id, or the file and line. */
function placeOf({id, file, line}: WaitingItem): string {
  return id ?? `${file}:${line}`;
}

function titleOf(kind: WaitingKind, {title}: WaitingItem): string {
  return kind === 'approval' ? title.replace(/^Approve /, '') : title || '(no title)';
}

function waits(count: number, word: string): string {
  return `${plural(count, word)} wait${count === 1 ? 's' : ''} for you`;
}

function localTime(iso: string): string {
  const date = new Date(iso);
  const day = date.toDateString() === new Date().toDateString() ? '' : `${date.toLocaleDateString('sv')} `;
  return day + date.toTimeString().slice(0, 5);
}
