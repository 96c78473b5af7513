import {visibleLine} from '../../formats/common/visible.ts';
import type {DaemonEvent, Report} from '../../formats/daemon-event.ts';
import {colors, plural, print, printWhole} from '../terminal/output.ts';
import {firstSteps, isFirstTime, startingPoint} from './first-steps.ts';
import {renderProblem} from './problem.ts';

/** Prints events for people; in a new home without a model also the first steps, once. */
export const reporter: Report = event => {
  const line = describe(event);
  const time = new Date().toTimeString().slice(0, 8);
  if (event.event === 'serving') isNew = event.sessions === 0;
  if (event.event === 'model' && event.isModel) isNew = false;
  if (event.event === 'ready' && isNew && isFirstTime(event.home)) printWhole(firstSteps(startingPoint(event.home)));
  if (line === undefined) return;
  const end = event.event === 'serving' ? '. Edit any file; Ctrl-C stops.' : '';
  const show = event.event === 'problem' ? printWhole : print;
  show(`${colors.dim(time)} ${line}${end}`, BESIDE_TIME);
  const hint = hintOf(event);
  if (hint !== undefined) print(`${' '.repeat(BESIDE_TIME)}${colors.cyan('=')} ${visibleLine(hint)}`, BESIDE_TIME + 2);
};

const BESIDE_TIME = '00:00:00 '.length;
let isNew = false;

/** One line per event, for a log. */
export function describeWhole(event: DaemonEvent): string | undefined {
  const line = describe(event);
  const hint = hintOf(event);
  return line === undefined || hint === undefined ? line : `${line}; ${visibleLine(hint)}`;
}

function hintOf(event: DaemonEvent): string | undefined {
  const hasHint = event.event === 'model' || event.event === 'sandbox' || event.event === 'notice';
  return hasHint ? event.hint : undefined;
}

/** Undefined if the event is not shown. */
function describe(event: DaemonEvent): string | undefined {
  switch (event.event) {
    case 'serving':
      return `serving ${colors.bold(visibleLine(event.home))}: ${plural(event.agents, 'agent')}, ${plural(event.sessions, 'session')}, ${plural(event.tasks, 'task')}`;
    case 'seen':
      return undefined;
    case 'problem':
      return renderProblem(event.problem, event.text);
    case 'cleared':
      return `${colors.green('fixed')} ${visibleLine(event.problem.file)}:${event.problem.line} ${colors.dim(event.problem.code)}`;
    case 'committed':
      return `${colors.green('committed')} ${visibleLine(event.subject)} ${colors.dim(event.commit.slice(0, 7))}`;
    case 'merged':
      return `${colors.cyan('merged')} ${visibleLine(event.path)}: your save was based on an older version; both changes were kept`;
    case 'conflict':
      return `${colors.red('conflict')} ${visibleLine(event.path)}: ${visibleLine(event.conflicts.join('; '))}. Your version was saved as ${visibleLine(event.copy)}`;
    case 'model':
      return event.isModel
        ? `model ${colors.bold(visibleLine(event.model))}`
        : `${colors.yellow(colors.bold(`model ${visibleLine(event.model)}`))}`;
    case 'sandbox':
      return event.confines
        ? `sandbox ${visibleLine(event.sandbox)}`
        : colors.yellow(colors.bold(`sandbox ${visibleLine(event.sandbox)}`));
    case 'notice':
      return colors.yellow(visibleLine(event.what));
    case 'ready':
      return undefined;
    case 'asking':
      return `${colors.bold(event.agent)} asks ${event.model} ${colors.dim(event.session)}`;
    case 'compacting':
      return `${colors.bold(event.agent)} writes a checkpoint with ${visibleLine(event.model)} ${colors.dim(event.session)}`;
    case 'compacted':
      return `${colors.green('compacted')} ${event.session} up to ${event.upto}: about ${event.before} to ${event.after} tokens`;
    case 'answered':
      // The commit is shown instead.
      return undefined;
    case 'asked':
      return `${colors.bold(event.agent)} ${colors.yellow(colors.bold('asks you'))}: ${visibleLine(event.what)} ${colors.dim(`(risk ${event.risk}; agentdir approvals ${event.id})`)}`;
    case 'decided':
      return `${event.state === 'approved' ? colors.green('approved') : colors.yellow(event.state)} ${colors.bold(event.id)}${event.by ? ` by ${visibleLine(event.by)}` : ''}: ${visibleLine(event.what)}`;
    case 'called':
      return `${colors.bold(event.agent)} called ${visibleLine(event.tool)} ${colors.dim(`${event.ms} ms`)}${event.code ? ` ${colors.red(event.code)}` : ''}`;
    case 'reading':
      return event.percent < 100
        ? `reading ${visibleLine(event.inbox)}: ${plural(event.lines, 'line')}, ${event.percent} %`
        : `${colors.green('read')} ${visibleLine(event.inbox)}: ${plural(event.lines, 'line')}`;
    case 'dropped':
      return `${colors.yellow('dropped')} an answer for ${event.session}: ${visibleLine(event.why)}`;
    case 'retrying':
      return `${colors.yellow('retrying')} ${event.session} in ${(event.after / 1000).toFixed(1)} s: ${visibleLine(event.why)}`;
    case 'failed':
      return `${colors.red('error')} ${event.session}: ${visibleLine(event.why)}; ${visibleLine(event.hint)}`;
    case 'trouble':
      return `${colors.yellow('waiting')} ${visibleLine(event.what)}`;
    case 'over':
      return `${colors.green('resumed')} ${colors.dim(`resolved: ${visibleLine(event.what)}`)}`;
    case 'stopping':
      return colors.dim(`stopping (${visibleLine(event.why)})`);
    case 'stopped':
      return 'stopped';
  }
}
