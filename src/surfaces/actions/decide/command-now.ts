import {APPROVALS_FILE, oneLine} from '../../../formats/approval/approval-item.ts';
import {pendingPath} from '../../../formats/approval/approval-path.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {fenced} from '../../../formats/common/markdown.ts';
import {isId} from '../../../formats/common/values.ts';
import {makeVisible} from '../../../formats/common/visible.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {readHomeFile} from '../../../home/read.ts';
import {type ApprovalPage, pendingPage} from './page.ts';
import {isUnrecorded, type Request} from './queue.ts';

/** The current command of a request, in queue and page. */
export type CommandNow =
  /** The command that would run. `changed`: the place where a person edited it. */
  | {text: string; changed?: 'queue' | 'page' | 'both'}
  /** Queue and page differ. `certain`: both were changed, so nothing runs. */
  | {queue: string; page: string; certain: boolean};

const TITLE = /^Approve [^:]*: /;

/**
 * The current command of an open request, compared with its title, which has the requested one. Undefined if it is no
 * command.
 */
export function commandNow(request: Request, page: ApprovalPage | undefined): CommandNow | undefined {
  return withShown(request, isUnrecorded(request) ? page?.file.action.command : undefined);
}

function withShown({task, command}: Request, shown: string | undefined): CommandNow | undefined {
  if (command === undefined || shown === undefined) return command === undefined ? undefined : {text: command};
  const asked = task.title.replace(TITLE, '');
  const [inQueue, onPage] = [oneLine(command) !== asked, oneLine(shown) !== asked];
  if (makeVisible(command).trimEnd() === shown.trimEnd())
    return inQueue ? {text: command, changed: 'both'} : {text: command};
  if (inQueue !== onPage) return inQueue ? {text: command, changed: 'queue'} : {text: shown, changed: 'page'};
  return {queue: command, page: shown, certain: inQueue};
}

/** Like `commandNow`, but parses the page only if its text lacks the command of the queue. */
export function commandOf(home: string, request: Request): CommandNow | undefined {
  const {id, command} = request;
  if (command === undefined || !isUnrecorded(request) || !isId(id)) return withShown(request, undefined);
  const read = readHomeFile(nodeDisk(home), pendingPath(id));
  const text = read && 'text' in read ? read.text : '';
  const shown = makeVisible(command);
  const same = text.startsWith(`${LABEL}${fenced(shown, 'bash')}\n`, text.indexOf(LABEL));
  return same ? withShown(request, shown) : commandNow(request, pendingPage(home, id));
}

const LABEL = '\n**Command:**\n';

/** Throws if queue and page differ. */
export function refuseDiffering(home: string, request: Request): void {
  const now = commandOf(home, request);
  if (now && 'queue' in now && now.certain)
    throw new UserError(
      `the command of ${request.id} was changed in the queue and on its page, differently; nothing was written`,
      exit.failed,
      `make both the same: ${APPROVALS_FILE} and ${pendingPath(request.id)}`,
    );
}
