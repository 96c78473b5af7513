import type {ApprovalType} from '../formats/approval/approval.ts';
import type {GrantLine} from '../formats/approval/approval-grants.ts';
import type {NewRule} from '../formats/rule.ts';
import type {Risk} from './risk.ts';

/** A labelled part of what the person sees. All of it may come from an agent. */
export interface AskPart {
  label: string;
  text: string;
  /** Language of the code fence: `bash`, `diff`. */
  language?: string;
}

export interface Ask {
  type: ApprovalType;
  /** Follows "Approve ": `command: docker restart redis`. One line of any length. */
  title: string;
  risk: Risk;
  /** Why the policy does not allow the call. */
  why: readonly string[];
  /** Why the agent wants the call, in its own words. */
  reason?: string;
  /** In display order: the whole command, its parts with their verdicts, the diff … */
  parts: readonly AskPart[];
  /** The argument that the person may edit, and the label of the part that shows it in full. */
  edits?: {argument: string; label: string};
  /** Lines by which the person may grant more than the call asks for. */
  grants?: readonly GrantLine[];
  /** Facts that the decision depends on besides the call: where it runs, content of scripts and of a replaced file. */
  basis: Readonly<Record<string, string>>;
  /** The narrowest rules that would allow the call from now on, with a warning; or why there are none. */
  always: {rules: readonly NewRule[]; but?: string} | {none: string};
  /** The call is a question; the person's answer is the result. */
  question?: {options: readonly string[]};
}

/** Numbered options, one per line. */
export function optionsText(options: readonly string[]): string {
  return options.map((option, i) => `${i + 1}. ${option.replace(/\s+/g, ' ').trim()}`).join('\n');
}
