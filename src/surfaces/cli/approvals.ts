import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import {pendingPath} from '../../formats/approval/approval-path.ts';
import {hasErrors} from '../../formats/common/diagnostic.ts';
import {exit} from '../../formats/common/errors.ts';
import {jsonText, visibleLine} from '../../formats/common/visible.ts';
import {anyPage} from '../actions/decide/page.ts';
import {findRequests, type Request, readArchive, readQueue} from '../actions/decide/queue.ts';
import {type ApprovalRow, readApprovalRow} from '../actions/decide/row.ts';
import {fileError} from '../actions/talk/file-error.ts';
import {colors, complain, plural, print, printWhole, screenWidth} from '../terminal/output.ts';
import {fitTable} from '../terminal/table.ts';
import {approvalPage, pageWidth, paintRisk} from './approval-page.ts';
import {ago, spell} from './short-text.ts';

export interface ApprovalsOptions {
  home: string;
  id: string | undefined;
  all: boolean;
  json: boolean;
}

export function approvalsCommand({home, id, all, json}: ApprovalsOptions): number {
  if (id !== undefined) return showOne(home, id, json);
  const queue = readQueue(home);
  const known = [...(all ? readArchive(home) : []), ...queue.requests].map(request => readApprovalRow(home, request));
  const pending = known.filter(({state}) => state === 'pending');
  const rows = all ? known : pending;
  const waiting = pending.length;
  if (json) printWhole(jsonText(rows));
  else {
    printRows(rows, waiting, all);
    const late = known.filter(({state, recorded}) => state !== 'pending' && !recorded).length;
    if (late > 0) print(colors.yellow(`${late} decided but not processed yet; if that lasts, see agentdir status`));
  }
  if (!hasErrors(queue.problems)) return waiting > 0 ? exit.waiting : exit.done;
  const {message, hint} = fileError(APPROVALS_FILE, queue.problems);
  complain(`${message}; no decision in it counts until you fix it`, hint);
  return exit.badFile;
}

function showOne(home: string, wanted: string, json: boolean): number {
  const [request] = findRequests(home, [wanted]) as [Request];
  const page = anyPage(home, request.id);
  const row = readApprovalRow(home, request);
  if (json) printWhole(jsonText({...row, page: page ? {file: page.path, text: page.file.text} : null}));
  else printWhole(approvalPage(request, page, pageWidth()));
  if (page?.path === pendingPath(request.id) && hasErrors(page.file.problems)) {
    const {message, hint} = fileError(page.path, page.file.problems);
    complain(`${message}; no decision on it counts until you fix it`, hint);
    return exit.badFile;
  }
  return row.state === 'pending' ? exit.waiting : exit.done;
}

function printRows(rows: readonly ApprovalRow[], waiting: number, all: boolean): void {
  if (rows.length > 0) printWhole(all ? historyTable(rows) : waitingTable(rows));
  if (waiting === 0) print('nothing waits for you');
  else
    print(
      `${plural(waiting, 'request')}; ${colors.dim('details: agentdir approvals ID; decide: agentdir approve, agentdir reject')}`,
    );
}

/** On one line, cut to 500 characters. */
const line = (text: string | null) =>
  visibleLine(
    (text ?? '')
      .slice(0, 500)
      .trim()
      .replace(/\s*\n\s*/g, ' ↵ '),
  );

function waitingTable(rows: readonly ApprovalRow[]): string {
  const now = Date.now();
  const cells = rows.map(({id, created, expires, agent, risk, taint, where, title, again}) => [
    line(id),
    created ? ago(created, now).replace(' ago', '') : '',
    expires ? expiry(expires, now) : '',
    line(agent),
    line(risk),
    [where === 'host' && 'host', taint && 'tainted'].filter(Boolean).join(' '),
    `${again === null ? '' : 'decide again · '}${line(title.replace(/^Approve /, ''))}`,
  ]);
  const head = ['Id', 'Age', 'Expires in', 'Agent', 'Risk', 'Note', 'Request'];
  const render = (text: string, column: number) =>
    column === 4 ? paintRisk(text) : column === 5 || text === 'expired' ? colors.yellow(text) : text;
  return fitTable(head, cells, screenWidth(), {render, spare: [1, 3, 2], whole: [0]});
}

function expiry(expires: string, now: number): string {
  const left = Date.parse(expires) - now;
  return left > 0 ? spell(left, Math.round) || 'now' : Number.isNaN(left) ? line(expires) : 'expired';
}

const painted: Record<string, (text: string) => string> = {
  approved: colors.green,
  rejected: colors.red,
  pending: colors.yellow,
};

function historyTable(rows: readonly ApprovalRow[]): string {
  const now = Date.now();
  const cells = rows.map(row => [
    line(row.id),
    row.created ? ago(row.created, now).replace(' ago', '') : '',
    line(row.agent),
    line(row.risk),
    line(row.state),
    line(row.by).replace(/ <.*/, ''),
    `${became(row)}${line(row.title.replace(/^Approve /, ''))}`,
  ]);
  const head = ['Id', 'Age', 'Agent', 'Risk', 'State', 'By', 'Outcome'];
  const render = (text: string, column: number) =>
    column === 3 ? paintRisk(text) : column === 4 ? (painted[text] ?? colors.dim)(text) : text;
  return fitTable(head, cells, screenWidth(), {render, spare: [1, 3, 5], whole: [0]});
}

function became({state, recorded, outcome, reason}: ApprovalRow): string {
  const words = outcome ?? reason ?? (recorded || state === 'pending' ? '' : 'not processed yet');
  return words === '' ? '' : `${line(words)} · `;
}
