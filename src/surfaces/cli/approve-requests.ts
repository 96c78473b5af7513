import type {Grants} from '../../formats/approval/approval-grants.ts';
import {isBudget} from '../../formats/approval/approval-state.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {authorHere} from '../../home/git/git-config.ts';
import {readHomeFile} from '../../home/read.ts';
import {approving, isQuestion} from '../actions/decide/choose.ts';
import {refuseDiffering} from '../actions/decide/command-now.ts';
import {decide, type PersonDecision} from '../actions/decide/decide.ts';
import {type Edited, editable, shownIn, takeBack, writePart} from '../actions/decide/edited.ts';
import type {Request} from '../actions/decide/queue.ts';
import {answerGiven, askAnswer} from './ask-answer.ts';
import {inEditor} from './editor.ts';
import {askKey, leftError, onTerminal} from './keys.ts';
import {type DecisionReport, noteReplaced} from './report-decisions.ts';

export interface ApproveOptions extends DecisionReport {
  /** Empty: show each pending request. */
  ids: readonly string[];
  edit: boolean;
  always: boolean;
  /** Permissions to add to commands. */
  grants?: Grants;
  sign: boolean;
  key: string | undefined;
  answer: string | undefined;
  /** The page of the only request, as it was shown. */
  shown?: Buffer | undefined;
}

/** Asks for missing answers, signs if wanted, and writes the decisions. */
export async function approveRequests(options: ApproveOptions, requests: readonly Request[]): Promise<Request[]> {
  const {home, always, grants = {}} = options;
  const why = requests.every(isBudget) ? undefined : await unsigned(home, options.sign);
  if (why !== undefined) throw new UserError(`${why}; nothing was written`, exit.usage, 'agentdir approve --sign …');
  for (const request of requests) refuseDiffering(home, request);
  const other = Object.keys(grants).length > 0 && requests.find(({command}) => command === undefined);
  if (other) throw new UserError(`${other.id} is no command`, exit.usage, 'omit --network and --host');
  const by = await authorHere(home);
  const wanted = options.sign && !requests.every(isBudget);
  const key = wanted ? await (await import('../actions/decide/signing.ts')).signingKey(home, options.key) : undefined;
  const edits: [Request, Edited][] = [];
  const choices: PersonDecision[] = [];
  for (const request of requests) {
    const answer = isQuestion(request) ? await answerTo(options, request) : undefined;
    const edited = options.edit ? await editOne(home, request) : undefined;
    if (edited) edits.push([request, edited]);
    const choice = await approving({home, request, by, always, answer, edited, grants, key});
    noteReplaced(answer, choice.fields.answer);
    choices.push(edited ? choice : {...choice, shown: options.shown});
  }
  for (const [request, edited] of edits) await writePart(home, request, edited);
  return decide(home, choices);
}

async function answerTo({home, json, answer}: ApproveOptions, request: Request): Promise<string | undefined> {
  if (answer !== undefined) return answerGiven(home, request, answer);
  return !json && onTerminal() ? askAnswer(home, request) : undefined;
}

/** Undefined to approve it unchanged. */
async function editOne(home: string, request: Request): Promise<Edited | undefined> {
  const from = editable(home, request);
  if (!from) throw new UserError(`${request.id} has no text to edit`, exit.usage, 'omit --edit');
  const name = from.label === 'Command' ? 'command.sh' : `${from.label.toLowerCase().replaceAll(' ', '-')}.txt`;
  const edited = takeBack(home, request, from, inEditor(shownIn(from), name));
  if (edited) {
    if (edited.label === 'Command')
      (await import('../actions/decide/refuse-denied.ts')).refuseDenied(home, request, edited.text);
    return edited;
  }
  const yes = onTerminal() ? await askKey(`You did not change ${request.id}. Approve it? [y]es, [n]o `) : 'n';
  if (yes === undefined) throw leftError();
  if (/^y(?:es)?$/i.test(yes)) return undefined;
  throw new UserError(
    `${request.id} is unchanged; nothing was written`,
    exit.failed,
    'to approve it unchanged, omit --edit',
  );
}

/** Explains that a signature is required, if so. */
export async function unsigned(home: string, sign: boolean): Promise<string | undefined> {
  const read = readHomeFile(nodeDisk(home), 'agentdir.yaml');
  if (sign || !read || !('text' in read) || !read.text.includes('signers')) return undefined;
  const signers = (await import('../actions/decide/signing.ts')).signersOf(home);
  return signers ? `agentdir.yaml has "signers: ${signers}": approvals must be signed` : undefined;
}
