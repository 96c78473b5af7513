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
import {askKey, ENDED} from './keys.ts';
import {askReason, rejectRequests} from './reject.ts';
import {reportDecision} from './report-decisions.ts';

type Action = 'approve' | 'always' | 'reject' | 'edit' | 'skip' | 'quit';

/** Keys are case-sensitive. */
const KEYS: Record<string, Action> = {
  ...{a: 'approve', A: 'always', r: 'reject', e: 'edit', s: 'skip', q: 'quit'},
  // As in chat.
  ...{y: 'approve', n: 'reject'},
};

/**
 * Asks about each request, oldest first, including new ones, until none is left or the person quits. With `follow`, stays and shows the
 * next one when it comes. Writes each decision at once.
 */
export async function askEach(options: ApproveOptions & {follow?: boolean}): Promise<number> {
  const {home, follow = false} = options;
  const skipped = new Set<string>();
  const why = await unsigned(home, options.sign);
  if (why !== undefined) note(`${why}; use agentdir approve --sign`);
  for (;;) {
    const left = waiting(home);
    const [request, ...others] = left.filter(({id}) => !skipped.has(id));
    if (!request) {
      if (!follow) return tellLeft(left);
      if (!(await nextRequest(home, skipped))) return tellLeft(waiting(home));
      continue;
    }
    const action = await askAbout(options, request, others.length);
    if (action === 'quit') return tellLeft(waiting(home));
    if (action === 'skip') skipped.add(request.id);
  }
}

/** Shows one request, asks, and writes the decision. `gone`: somebody else decided meanwhile. */
export async function askAbout(
  options: ApproveOptions,
  request: Request,
  more: number,
): Promise<'decided' | 'skip' | 'quit' | 'gone'> {
  const {home} = options;
  print(`\n${colors.dim('─'.repeat(Math.min(pageWidth(), 72)))}`);
  const page = anyPage(home, request.id);
  printWhole(approvalPage(request, page, pageWidth()));
  if (more > 0) print(colors.dim(`\n${more} more after this one`));
  const again = whatRuns(request, page, pageWidth());
  if (again.length > 0) print(`\n${again.join('\n')}`);
  const action = await askAction(home, request);
  if (action === 'gone') {
    print(`${colors.bold(request.id)} was decided elsewhere`);
    return 'gone';
  }
  if (action === 'quit' || action === 'skip') return action;
  return (await act({...options, shown: page?.bytes}, request, action)) ? 'decided' : 'quit';
}

const LOOK_MS = 150;

/** Waits until there is a request. False if the person quits. */
async function nextRequest(home: string, skipped: ReadonlySet<string>): Promise<boolean> {
  const has = () => waiting(home).some(({id}) => !skipped.has(id));
  for (;;) {
    const key = await askUntil('\nno request waits; the next one is shown here. Ctrl-C or q ends ', has);
    if (key === ENDED) return true;
    if (key === undefined || /^q/i.test(key)) return false;
  }
}

/** Asks for a key until there is no need any more, which gives `ENDED`. */
async function askUntil(prompt: string, isOver: () => boolean): Promise<string | undefined> {
  const over = new AbortController();
  const timer = setInterval(() => {
    if (isOver()) over.abort();
  }, LOOK_MS);
  try {
    return await askKey(prompt, over.signal);
  } finally {
    clearInterval(timer);
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

async function askAction(home: string, request: Request): Promise<Action | 'gone'> {
  const question = isQuestion(request);
  const edit = !question && editable(home, request) ? '[e]dit, ' : '';
  const prompt = `\n${question ? '[a]nswer' : '[a]pprove'}, [r]eject, ${edit}[s]kip, ${question ? '' : '[A]lways, '}[q]uit: `;
  for (;;) {
    const word = await askUntil(prompt, () => isDecided(home, request));
    if (word === undefined) return 'quit';
    if (word === ENDED) return 'gone';
    const action = KEYS[word] ?? Object.values(KEYS).find(name => name === word.toLowerCase());
    if (action) return action;
    if (question && word.toLowerCase() === 'answer') return 'approve';
    print(`"${word.slice(0, 20)}" is not one of these`);
  }
}

/** A queue that is being saved, or has errors, says nothing. */
function isDecided(home: string, {id}: Request): boolean {
  try {
    return !waiting(home).some(request => request.id === id);
  } catch {
    return false;
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
