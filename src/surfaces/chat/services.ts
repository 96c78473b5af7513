import type {ApprovalPage} from '../actions/decide/page.ts';
import type {Request} from '../actions/decide/queue.ts';

/** What chat needs of the command line around it. */
export interface ChatServices {
  home: string;
  /** Runs a command of agentdir and returns what it printed, for a screen of this width. */
  run: (args: readonly string[], width: number) => Promise<{code: number; text: string}>;
  /** Starts the daemon in the background. Throws a UserError. */
  startDaemon: () => Promise<void>;
  /** Everything a person needs to decide about a request, for a screen of this width. */
  page: (request: Request, page: ApprovalPage | undefined, width: number) => string;
  /** The text that runs, to be repeated at the prompt. */
  summary: (request: Request, page: ApprovalPage | undefined, width: number) => string[];
  /** Why approvals cannot be given here, such as that they must be signed. */
  refusal: () => Promise<string | undefined>;
}
