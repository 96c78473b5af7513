/** Kinds of findings, with hints. */
export const findingKinds = {
  undecided: 'find out who started it; ask the agent to undo it if it should not have run',
  rejected: 'it ran although it was not to run: look at what it did, and undo it',
  expired: 'the decision came too late: look at what it did, and decide whether it may stay',
  'other-call': 'the approval was given for something else: look at what this did',
  digest: 'what ran is not what was approved: compare the call with the page of the approval',
  'used-twice': 'one approval is for one run: look at what the second did',
  edited: 'the item must keep what was asked and what ran instead: see git log -p tasks/approvals.task.md',
  signature: 'ask the person who is named to sign it, or treat it as not approved',
  'not-allowed': 'nobody was asked: see "agentdir policy explain", and look at what it did',
  denied: 'the policy denied it at that time: look at what it did',
  unmarked: 'it ran without being marked first: look at what it did',
  'started-twice': 'it may have run twice: look at what it did',
  'result-changed': 'see what was changed: git show COMMIT',
  'no-delegation': 'no call gave the task of this session: look at what it did, and who made it',
  'no-execution': 'the item claims a run that no session has: see git log -p tasks/approvals.task.md',
  'agent-decided': 'no agent decides for a person: treat it as not approved, and find out how it was written',
  'agent-wrote': 'agents cannot write there: find out how it was done, and put it back (git revert COMMIT)',
} as const;

type FindingKind = keyof typeof findingKinds;

export interface AuditFinding {
  kind: FindingKind;
  /** May contain text by an agent. */
  what: string;
  commit: string;
  /** ISO 8601, of the commit. */
  time: string;
  session?: string;
  call?: string;
  tool?: string;
  approval?: string;
}

export interface Objection {
  kind: FindingKind;
  what: string;
}
