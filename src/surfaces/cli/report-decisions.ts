import {exit} from '../../formats/common/errors.ts';
import {jsonText, makeVisible, visibleLine} from '../../formats/common/visible.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import {commandNow} from '../actions/decide/command-now.ts';
import {hasFailed, isOver, type Outcomes, waitForOutcomes} from '../actions/decide/outcome.ts';
import {anyPage} from '../actions/decide/page.ts';
import type {Request} from '../actions/decide/queue.ts';
import {readApprovalRow} from '../actions/decide/row.ts';
import {colors, complain, note, print, printWhole} from '../terminal/output.ts';

export interface DecisionReport {
  home: string;
  json: boolean;
  wait: boolean;
  timeoutMs: number | undefined;
}

/** Reports decisions; with `wait`, their outcome. */
export async function reportDecisions(
  decided: readonly Request[],
  {home, json, wait, timeoutMs}: DecisionReport,
): Promise<number> {
  const daemon = daemonOf(nodeDisk(home)) !== undefined;
  if (!json) for (const request of decided) reportDecision(home, request, daemon);
  const waited = wait && daemon ? await waitForOutcomes(home, decided, timeoutMs) : undefined;
  const rows = (waited?.requests ?? decided).map(request => readApprovalRow(home, request));
  if (json) printWhole(jsonText({daemon, approvals: rows}));
  if (waited) return tellOutcomes(waited, json);
  if (!wait) return exit.done;
  complain('no daemon is running: the decision takes effect at the next start', 'agentdir start');
  return exit.daemon;
}

export function reportDecision(home: string, request: Request, daemon: boolean): void {
  const word = request.decision === 'approved' ? colors.green('approved') : colors.red('rejected');
  print(
    `${word} ${colors.bold(visibleLine(request.id))}: ${next(request)}${daemon ? ' now' : ' at the next agentdir start'}`,
  );
  const rule = request.decision === 'approved' && request.always ? newRule(home, request) : undefined;
  if (rule !== undefined) print(`  always: ${visibleLine(rule.replaceAll('\n', '; '))}`);
}

/** The rule that "always" adds, or why it adds none. */
function newRule(home: string, request: Request): string | undefined {
  const page = anyPage(home, request.id);
  const action = page?.file.action;
  const now = commandNow(request, page);
  const same =
    now === undefined || ('text' in now && now.changed === undefined && action?.command === makeVisible(now.text));
  return action && !same ? 'no rule is added, because the text was changed' : action?.['with always'];
}

function next({type, decision, agent}: Request): string {
  const who = visibleLine(agent ?? 'the agent');
  if (type === 'budget')
    return decision === 'approved' ? 'the waiting agents continue' : 'the waiting agents are paused';
  if (decision === 'rejected') return `${who} is informed`;
  return type === 'question' ? `${who} reads the answer` : `${who} runs it`;
}

function tellOutcomes({requests, stopped}: Outcomes, json: boolean): number {
  for (const request of requests) {
    const outcome = fieldOf(request.task, 'outcome') ?? (request.status === 'approved' ? undefined : request.status);
    if (json || outcome === undefined || !isOver(request)) continue;
    const paint = hasFailed(request) ? colors.red : colors.green;
    print(`${colors.bold(visibleLine(request.id))}: ${paint(visibleLine(outcome))}`);
    const rule = fieldOf(request.task, 'rule');
    if (rule !== undefined) print(`  always: ${visibleLine(rule)}`);
  }
  if (stopped === 'no-daemon') {
    complain('the daemon stopped before all requests had an outcome', 'start it again: agentdir start');
    return exit.daemon;
  }
  if (stopped === 'timeout') complain('some requests have no outcome yet', 'check later: agentdir approvals --all');
  return stopped === 'timeout' || requests.some(hasFailed) ? exit.failed : exit.done;
}

export function noteReplaced(given: string | undefined, written: string | undefined): void {
  if (given !== undefined && written !== undefined && given !== written)
    note('note: something that looks like a credential was redacted before writing');
}
