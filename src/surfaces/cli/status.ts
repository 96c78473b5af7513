import {exit} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
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
  const told = daemon && readStatus(nodeDisk(home));
  const stopped = daemon ? undefined : lastStop(nodeDisk(home));
  const shown: Shown = told ?? {...(await lookedUp(home)), ...(stopped && {stopped})};
  const coming = comingIn(home, Date.now());
  if (json) printJson({running: daemon !== undefined, pid: daemon?.pid ?? null, ...shown, ...coming});
  else for (const line of lines(home, daemon?.pid, shown, comingInLines(coming, localTime))) print(line);
  return daemon ? exit.done : exit.daemon;
}

/** No daemon, or one that is still starting. */
async function lookedUp(home: string): Promise<Shown> {
  const files = listSessions(home);
  return files.length > MANY ? skimmed(home, files) : checked(home);
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
    approvals = 0,
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
  if (errors === null || warnings === null) out.push('  too many sessions to check without a daemon: agentdir check');
  else if (errors + warnings > 0)
    out.push(
      `  ${errors > 0 ? colors.red(plural(errors, 'error')) : plural(errors, 'error')}, ${plural(warnings, 'warning')}: agentdir check`,
    );
  if (approvals > 0) out.push(`  ${colors.yellow(waits(approvals, 'approval'))}: agentdir approvals`);
  const others = needs - approvals;
  if (others > 0) out.push(`  ${colors.yellow(waits(others, approvals > 0 ? 'other thing' : 'thing'))}`);
  const any = needs + (errors ?? 0) + (warnings ?? 0) + troubles.length > 0;
  out.push(any ? `  ${colors.dim('details: NEEDS_YOU.md')}` : '  nothing waits for you');
  return out;
}

function waits(count: number, word: string): string {
  return `${plural(count, word)} wait${count === 1 ? 's' : ''} for you`;
}

function localTime(iso: string): string {
  const date = new Date(iso);
  const day = date.toDateString() === new Date().toDateString() ? '' : `${date.toLocaleDateString('sv')} `;
  return day + date.toTimeString().slice(0, 5);
}
