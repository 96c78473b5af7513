import type {ApprovalType} from '../formats/approval/approval.ts';
import type {NewRule} from '../formats/rule.ts';
import type {Risk} from './risk.ts';

/** Something that the person who decides is shown, under a label. All of it may come from an agent. */
export interface AskPart {
  label: string;
  text: string;
  /** Of the fence: `bash`, `diff`. */
  language?: string;
}

/** What a person is asked before a call may run. */
export interface Ask {
  type: ApprovalType;
  /** What follows "Approve ": `command: docker restart redis`. One line, as long as it is. */
  title: string;
  risk: Risk;
  /** Why it is not simply done: the policy's words. */
  why: readonly string[];
  /** Why the agent wants it, in its own words. */
  reason?: string;
  /** What is shown, in this order: the whole command, its parts with their verdicts, the diff … */
  parts: readonly AskPart[];
  /** The argument that the person may change, and the label of the part that shows it, whole. */
  edits?: {argument: string; label: string};
  /** What the decision is bound to besides the call itself: where it runs, contents of scripts, of the file it replaces. */
  basis: Readonly<Record<string, string>>;
  /** The narrowest rules that would allow it from now on, and what they would not look at; or why there are none. */
  always: {rules: readonly NewRule[]; but?: string} | {none: string};
  /** It is a question: the person's answer is the result. */
  question?: {options: readonly string[]};
}

/** What a question offers, one a line, by number. */
export function optionsText(options: readonly string[]): string {
  return options.map((option, i) => `${i + 1}. ${option.replace(/\s+/g, ' ').trim()}`).join('\n');
}
