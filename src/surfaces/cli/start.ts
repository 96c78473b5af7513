import {visibleLine} from '../../formats/common/visible.ts';
import type {DaemonEvent, Report} from '../../formats/daemon-event.ts';
import {colors, plural, print, printWhole} from '../terminal/output.ts';
import {firstSteps, startingPoint} from './first-steps.ts';
import {renderProblem} from './problem.ts';

/** A line for each thing that happens, for people; in a home where nothing has happened yet, also what to try. */
export const reporter: Report = happening => {
  const line = describe(happening);
  const time = new Date().toTimeString().slice(0, 8);
  if (happening.event === 'serving') isNew = happening.sessions === 0;
  if (happening.event === 'ready' && isNew) printWhole(firstSteps(startingPoint(happening.home)));
  if (line === undefined) return;
  const end = happening.event === 'serving' ? '. Edit any file; Ctrl-C stops.' : '';
  const show = happening.event === 'problem' ? printWhole : print;
  show(`${colors.dim(time)} ${line}${end}`, BESIDE_TIME);
  const hint = hintOf(happening);
  if (hint !== undefined) print(`${' '.repeat(BESIDE_TIME)}${colors.cyan('=')} ${visibleLine(hint)}`, BESIDE_TIME + 2);
};

const BESIDE_TIME = '00:00:00 '.length;
let isNew = false;

/** The same in one line, for a log. */
export function describeWhole(happening: DaemonEvent): string | undefined {
  const line = describe(happening);
  const hint = hintOf(happening);
  return line === undefined || hint === undefined ? line : `${line}; ${visibleLine(hint)}`;
}

function hintOf(happening: DaemonEvent): string | undefined {
  const {event} = happening;
  return event === 'model' || event === 'sandbox' || event === 'notice' ? happening.hint : undefined;
}

/** Undefined: nothing that a person wants to read. */
function describe(happening: DaemonEvent): string | undefined {
  switch (happening.event) {
    case 'serving':
      return `serving ${colors.bold(visibleLine(happening.home))}: ${plural(happening.agents, 'agent')}, ${plural(happening.sessions, 'session')}, ${plural(happening.tasks, 'task')}`;
    case 'seen':
      return undefined;
    case 'problem':
      return renderProblem(happening.problem, happening.text);
    case 'cleared':
      return `${colors.green('mended')} ${visibleLine(happening.problem.file)}:${happening.problem.line} ${colors.dim(happening.problem.code)}`;
    case 'committed':
      return `${colors.green('committed')} ${visibleLine(happening.subject)} ${colors.dim(happening.commit.slice(0, 7))}`;
    case 'merged':
      return `${colors.cyan('merged')} ${visibleLine(happening.path)}: it was saved from an older version; both changes are in it`;
    case 'conflict':
      return `${colors.red('conflict')} ${visibleLine(happening.path)}: ${visibleLine(happening.conflicts.join('; '))}. What was saved is kept in ${visibleLine(happening.copy)}`;
    case 'model':
      return happening.isModel
        ? `model ${colors.bold(visibleLine(happening.model))}`
        : `${colors.yellow(colors.bold(`model ${visibleLine(happening.model)}`))}`;
    case 'sandbox':
      return happening.confines
        ? `sandbox ${visibleLine(happening.sandbox)}`
        : colors.yellow(colors.bold(`sandbox ${visibleLine(happening.sandbox)}`));
    case 'notice':
      return colors.yellow(visibleLine(happening.what));
    case 'ready':
      return undefined;
    case 'asking':
      return `${colors.bold(happening.agent)} asks ${happening.model} ${colors.dim(happening.session)}`;
    case 'answered':
      // The commit says so.
      return undefined;
    case 'asked':
      return `${colors.bold(happening.agent)} ${colors.yellow(colors.bold('asks you'))}: ${visibleLine(happening.what)} ${colors.dim(`(risk ${happening.risk}; agentdir approvals ${happening.id})`)}`;
    case 'decided':
      return `${happening.state === 'approved' ? colors.green('approved') : colors.yellow(happening.state)} ${colors.bold(happening.id)}${happening.by ? ` by ${visibleLine(happening.by)}` : ''}: ${visibleLine(happening.what)}`;
    case 'called':
      return `${colors.bold(happening.agent)} called ${visibleLine(happening.tool)} ${colors.dim(`${happening.ms} ms`)}${happening.code ? ` ${colors.red(happening.code)}` : ''}`;
    case 'reading':
      return happening.percent < 100
        ? `reading ${visibleLine(happening.inbox)}: ${plural(happening.lines, 'line')}, ${happening.percent} %`
        : `${colors.green('read')} ${visibleLine(happening.inbox)}: ${plural(happening.lines, 'line')}`;
    case 'dropped':
      return `${colors.yellow('dropped')} an answer for ${happening.session}: ${visibleLine(happening.why)}`;
    case 'retrying':
      return `${colors.yellow('retrying')} ${happening.session} in ${(happening.after / 1000).toFixed(1)} s: ${visibleLine(happening.why)}`;
    case 'failed':
      return `${colors.red('error')} ${happening.session}: ${visibleLine(happening.why)}; ${visibleLine(happening.hint)}`;
    case 'trouble':
      return `${colors.yellow('waiting')} ${visibleLine(happening.what)}`;
    case 'over':
      return `${colors.green('going on')} ${colors.dim(`no longer: ${visibleLine(happening.what)}`)}`;
    case 'stopping':
      return colors.dim(`stopping (${visibleLine(happening.why)})`);
    case 'stopped':
      return 'stopped';
  }
}
