import {UserError} from '../../formats/common/errors.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {authorHere} from '../../home/git/git-config.ts';
import {approving, isQuestion, rejecting} from '../actions/decide/choose.ts';
import {refuseDiffering} from '../actions/decide/command-now.ts';
import {decide} from '../actions/decide/decide.ts';
import {type Edited, editable, shownIn, takeBack, writePart} from '../actions/decide/edited.ts';
import {type ApprovalPage, pendingPage} from '../actions/decide/page.ts';
import type {Request} from '../actions/decide/queue.ts';

/** A request as it is on the screen. A decision is about exactly this. */
export interface ShownRequest {
  request: Request;
  page: ApprovalPage | undefined;
  /** Differs if anything that a person was shown has changed. */
  mark: string;
}

export type Choice = {yes: true; always?: boolean; answer?: string; edited?: string} | {yes: false; reason?: string};

const SHOWN = ['digest', 'command', 'again', 'risk', 'title'] as const;

export function showRequest(home: string, request: Request): ShownRequest {
  const page = pendingPage(home, request.id);
  const fields = SHOWN.map(key => fieldOf(request.task, key) ?? '');
  return {request, page, mark: [request.id, request.task.title, ...fields, page?.file.text ?? ''].join('\0')};
}

/** The text that a person may change before it runs. */
export function editableText(home: string, {request}: ShownRequest): string | undefined {
  const from = isQuestion(request) ? undefined : editable(home, request);
  return from && shownIn(from);
}

/** Writes a decision about what was shown. Throws if that has changed meanwhile. */
export async function decideShown(home: string, shown: ShownRequest, choice: Choice): Promise<void> {
  const {request, page} = shown;
  const by = await authorHere(home);
  const bound = {shown: page?.bytes};
  if (!choice.yes) {
    await decide(home, [{...rejecting(home, request, by, choice.reason), ...bound}]);
    return;
  }
  refuseDiffering(home, request);
  const {always = false, answer} = choice;
  const edited = choice.edited === undefined ? undefined : editedPart(home, shown, choice.edited);
  if (edited?.label === 'Command')
    (await import('../actions/decide/refuse-denied.ts')).refuseDenied(home, request, edited.text);
  const decision = await approving({home, request, by, always, answer, edited});
  if (edited && edited.where !== 'item') {
    // `writePart` refuses if the part has changed since it was shown.
    await writePart(home, request, edited);
    await decide(home, [decision]);
  } else await decide(home, [{...decision, ...bound}]);
}

/** Undefined: it was left as it was. */
function editedPart(home: string, {request, page}: ShownRequest, text: string): Edited | undefined {
  if (page && !pendingPage(home, request.id)?.bytes.equals(page.bytes))
    throw new UserError(`${request.id} was changed while you edited; nothing was written`);
  const from = editable(home, request);
  if (!from) throw new UserError(`${request.id} has no text to edit`);
  return takeBack(home, request, from, text);
}

/** The suggested answers of a question. */
export function answersOf({request, page}: ShownRequest): string[] {
  const text = page?.file.action.options ?? fieldOf(request.task, 'options') ?? '';
  return text
    .split('\n')
    .map(line => line.replace(/^\s*(?:[-*]|\d+[.)])\s+/, '').trim())
    .filter(Boolean);
}
