import {exit, UserError} from '../../formats/common/errors.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import {isQuestion} from '../actions/decide/choose.ts';
import {editable} from '../actions/decide/edited.ts';
import {anyPage} from '../actions/decide/page.ts';
import {isUndecided, type Request, readQueue, refuseBrokenQueue} from '../actions/decide/queue.ts';
import {colors, complain, note, plural, print, printWhole} from '../terminal/output.ts';
import {approvalPage, pageWidth, whatRuns} from './approval-page.ts';
import {type ApproveOptions, approveRequests, unsigned} from './approve-requests.ts';
import {askKey} from './keys.ts';
import {askReason, rejectRequests} from './reject.ts';
import {reportDecision} from './report-decisions.ts';

type Action = 'approve' | 'always' | 'reject' | 'edit' | 'skip' | 'quit';

/** Keys are case-sensitive. */
const KEYS: Record<string, Action> = {a: 'approve', A: 'always', r: 'reject', e: 'edit', s: 'skip', q: 'quit'};

/**
 * Asks about each request, oldest first, including new ones, until none is left or the person quits. Writes each
 * decision at once.
 */
export async function askEach(options: ApproveOptions): Promise<number> {
  const {home} = options;
  const skipped = new Set<string>();
  const why = await unsigned(home, options.sign);
  if (why !== undefined) note(`${why}; use agentdir approve --sign`);
  for (let left = waiting(home); ; left = waiting(home)) {
    const [request, ...others] = left.filter(({id}) => !skipped.has(id));
    if (!request) return tellLeft(left);
    print(`\n${colors.dim('─'.repeat(Math.min(pageWidth(), 72)))}`);
    const page = anyPage(home, request.id);
    printWhole(approvalPage(request, page, pageWidth()));
    if (others.length > 0) print(colors.dim(`\n${others.length} more after this one`));
    const again = whatRuns(request, page, pageWidth());
    if (again.length > 0) print(`\n${again.join('\n')}`);
    const action = await askAction(home, request);
    if (action === 'quit') return tellLeft(waiting(home));
    if (action === 'skip') skipped.add(request.id);
    else if (!(await act(options, request, action))) return tellLeft(waiting(home));
  }
}

function tellLeft({length}: readonly Request[]): number {
  print(length > 0 ? `${plural(length, 'request')} skipped` : 'nothing waits for you');
  return length > 0 ? exit.waiting : exit.done;
}

function waiting(home: string): Request[] {
  const queue = readQueue(home);
  refuseBrokenQueue(queue);
  return queue.requests.filter(request => isUndecided(home, request));
}

async function askAction(home: string, request: Request): Promise<Action> {
  const question = isQuestion(request);
  const edit = !question && editable(home, request) ? '[e]dit, ' : '';
  const prompt = `\n${question ? '[a]nswer' : '[a]pprove'}, [r]eject, ${edit}[s]kip, ${question ? '' : '[A]lways, '}[q]uit: `;
  for (;;) {
    const word = await askKey(prompt);
    if (word === undefined) return 'quit';
    const action = KEYS[word] ?? Object.values(KEYS).find(name => name === word.toLowerCase());
    if (action) return action;
    if (question && word.toLowerCase() === 'answer') return 'approve';
    print(`"${word.slice(0, 20)}" is not one of these`);
  }
}

/** False if the person quits. Reports write errors and asks again. */
async function act(options: ApproveOptions, request: Request, action: Action): Promise<boolean> {
  try {
    let decided: Request[];
    if (action === 'reject') {
      decided = await rejectRequests(options.home, [request], await askReason());
    } else {
      const always = options.always || action === 'always';
      decided = await approveRequests({...options, always, edit: action === 'edit', answer: undefined}, [request]);
    }
    for (const one of decided) reportDecision(options.home, one, daemonOf(nodeDisk(options.home)) !== undefined);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    if (error.exitCode === exit.waiting) return false;
    complain(error.message, error.hint);
  }
  return true;
}
