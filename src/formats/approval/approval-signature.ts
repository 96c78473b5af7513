import type {Decision} from './approval-review.ts';

export interface SignedDecision {
  id: string;
  /** As the item has it. */
  digest: string;
  decision: Decision;
  /** What the person put in place of what was asked, whole; undefined if they changed nothing. */
  edited: string | undefined;
}

/** What a signature is over: the decision, and all that it is bound to. One text for one decision. */
export function signedText({id, digest, decision, edited}: SignedDecision): string {
  return `${JSON.stringify({agentdir: 'decision', id, digest, decision, edited: edited ?? null})}\n`;
}
