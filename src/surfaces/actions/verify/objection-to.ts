import {verifyBy} from '../../../effects/signature/ssh-signature.ts';
import {callDigest, signedText} from '../../../formats/approval/approval-digest.ts';
import {readGrants} from '../../../formats/approval/approval-grants.ts';
import {isCapable, toolNamed} from '../../../policy/tools.ts';
import type {Decisions} from './decisions.ts';
import type {Execution} from './executions.ts';
import type {Objection} from './finding.ts';
import {findItem, findPage, type HomeState, type PastItem, templateOf} from './home-state.ts';
import {verdictOf} from './verdict-of.ts';
import type {GivenApproval} from './writing.ts';

/** Context of a start. */
export interface CallEvidence {
  decisions: Pick<Decisions, 'approvalOf' | 'objectionOf'>;
  /** The call that used each approval. */
  used: ReadonlyMap<string, string>;
  /** The signers file at that time. */
  signers: (setting: string) => Promise<{text: string} | {problem: string}>;
}

/** Why the call was not allowed to start; undefined if it was. `at`: the state before it. */
export async function objectionTo(
  execution: Execution,
  at: HomeState,
  known: CallEvidence,
): Promise<Objection | undefined> {
  const {call, agent} = execution;
  const {name: tool, arguments: args} = call.function;
  const template = templateOf(at, agent);
  if (!template) return {kind: 'not-allowed', what: `there was no template of ${agent}`};
  if (!isCapable(template.capabilities, tool))
    return {kind: 'not-allowed', what: `${tool} was not among the capabilities of ${agent}`};
  const {verdict, reason} = verdictOf({...execution, tool, arguments: args}, at.policy, at.settings);
  if (verdict === 'deny') return {kind: 'denied', what: reason};
  if (call.approval !== undefined) {
    const objection = await toApproval(execution, call.approval, at, known);
    // If the policy now allows it, no decision is needed, unless it was rejected.
    return verdict === 'allow' && objection?.kind === 'undecided' ? undefined : objection;
  }
  return verdict === 'allow' ? undefined : {kind: 'not-allowed', what: `no approval, and the policy asks: ${reason}`};
}

async function toApproval(
  execution: Execution,
  id: string,
  at: HomeState,
  known: CallEvidence,
): Promise<Objection | undefined> {
  const {decisions, used} = known;
  const {session, agent, call} = execution;
  const item = findItem(at, id);
  if (!item) return {kind: 'undecided', what: `its approval ${id} was in no queue before it started`};
  const other = Object.entries({session, agent, call: call.id}).find(([name, value]) => item.field(name) !== value);
  if (other)
    return {kind: 'other-call', what: `approval ${id} is for another ${other[0]}: ${item.field(other[0]) ?? 'none'}`};
  const against = decisions.objectionOf(id);
  if (against !== undefined)
    return {kind: against === 'expired' ? 'expired' : 'rejected', what: `approval ${id} was ${against} before`};
  if (item.decision !== 'approved') return {kind: 'undecided', what: `approval ${id} was not ticked before it started`};
  const said = decisions.approvalOf(id);
  if (!said) return {kind: 'undecided', what: `no commit of a person has the decision about ${id}`};
  const expires = item.field('expires');
  if (expires !== undefined && Date.parse(item.at ?? said.time) > Date.parse(expires))
    return {kind: 'expired', what: `approval ${id} was given after it had expired, ${expires}`};
  const first = used.get(id);
  if (first !== undefined) return {kind: 'used-twice', what: `approval ${id} was used before, for ${first}`};
  return toDigest(execution, id, item, at) ?? toEdit(execution, item, at) ?? toSignature(id, item, said, at, known);
}

function toDigest({call, session, agent}: Execution, id: string, item: PastItem, at: HomeState): Objection | undefined {
  const digest = item.field('digest');
  if (digest === undefined) return {kind: 'digest', what: `approval ${id} has no digest`};
  const {name: tool, arguments: args} = call.function;
  const page = findPage(at, id);
  const bound = {tool, arguments: args, cwd: `workspaces/${agent}`, agent, session, call: call.id};
  if (basesIn(page?.action['bound to'] ?? '').some(basis => callDigest({...bound, basis}) === digest)) return undefined;
  return {
    kind: 'digest',
    what: page
      ? `the call is not the one that approval ${id} has the digest of`
      : `the page of approval ${id} is not there, and without it the digest is not that of the call`,
  };
}

/** Parses `key: value` lines, split at the first and at the last ": ". */
function basesIn(text: string): Record<string, string>[] {
  const lines = text.split('\n').filter(Boolean);
  const cut = (find: (line: string) => number) =>
    Object.fromEntries(lines.map(line => [keyIn(line.slice(0, find(line))), line.slice(find(line) + 2)]));
  return [cut(line => line.indexOf(': ')), cut(line => line.lastIndexOf(': '))];
}

/** The item must have the command that was called. */
function toUnedited(args: string, item: PastItem): Objection | undefined {
  const shown = item.field('command');
  const {command} = JSON.parse(args) as {command?: unknown};
  if (shown === undefined || typeof command !== 'string' || shown.trimEnd() === command.trimEnd()) return undefined;
  return {
    kind: 'edited',
    what: 'the item has another command than the one that ran, and does not say that it was edited',
  };
}

/** Names with hidden characters are JSON strings. */
function keyIn(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

/** The edited text must be recorded, and not denied by the policy. */
function toEdit(execution: Execution, item: PastItem, at: HomeState): Objection | undefined {
  const {name: tool, arguments: args} = execution.call.function;
  if (toolNamed(tool) !== 'execute_command') return undefined;
  if (item.field('edited') !== 'true') return toUnedited(args, item);
  const [command, original] = [item.field('command'), item.field('original')];
  if (command === undefined || original === undefined)
    return {kind: 'edited', what: 'it was edited, and the item does not have both what was asked and what ran'};
  if ((JSON.parse(args) as {command?: unknown}).command !== original)
    return {kind: 'edited', what: 'what the item calls the original is not what the call asks for'};
  const {verdict, reason} = verdictOf(
    {...execution, tool, arguments: JSON.stringify({command})},
    at.policy,
    at.settings,
  );
  return verdict === 'deny' ? {kind: 'denied', what: `what it was edited to is denied: ${reason}`} : undefined;
}

/** Verified as of the commit with the decision: a key may have expired since. */
async function toSignature(
  id: string,
  item: PastItem,
  said: GivenApproval,
  at: HomeState,
  known: CallEvidence,
): Promise<Objection | undefined> {
  const setting = at.settings.approvals?.signers;
  if (!setting) return undefined;
  const signature = item.field('signature');
  if (signature === undefined)
    return {kind: 'signature', what: `approval ${id} is not signed, and the settings ask for it`};
  const signers = await known.signers(setting);
  if ('problem' in signers) return {kind: 'signature', what: signers.problem};
  const label = findPage(at, id)?.edits?.toLowerCase() ?? '';
  const shown = item.field('original') === undefined ? findPage(at, id)?.action[label] : item.field('command');
  const isEdited = item.field('edited') === 'true';
  const isSameText = item.field('original') !== undefined && item.field('original') === item.field('command');
  const edited = isEdited && !isSameText ? shown : undefined;
  const grants = (isEdited && readGrants(item.field)) || {};
  const text = signedText({id, digest: item.field('digest') ?? '', decision: 'approved', edited, grants});
  const verified = await verifyBy(text, signature, signers.text, new Date(said.time));
  return 'problem' in verified ? {kind: 'signature', what: `approval ${id}: ${verified.problem}`} : undefined;
}
