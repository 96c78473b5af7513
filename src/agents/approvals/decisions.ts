import {parseFile} from '../../check/parse-file.ts';
import {askedPart, type CallRequest, strayInItem} from '../../decide/call-request.ts';
import {type CountedDecision, hasExpired} from '../../decide/queue.ts';
import type {ApprovalFile} from '../../formats/approval/approval.ts';
import {editedText} from '../../formats/approval/approval-edited.ts';
import {GRANT_LINES, type Grants} from '../../formats/approval/approval-grants.ts';
import {APPROVALS_FILE, type ApprovalItem} from '../../formats/approval/approval-item.ts';
import {pendingPath} from '../../formats/approval/approval-path.ts';
import {strayEdit} from '../../formats/approval/approval-shown.ts';
import {approvalState, isBudget, isRecorded} from '../../formats/approval/approval-state.ts';
import {hasErrors} from '../../formats/common/diagnostic.ts';
import {versionText} from '../../loop/accept-version.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain, PAGE_SAVE_MS} from '../../loop/look-again.ts';
import type {Approvals} from '../state/approvals.ts';
import type {With} from '../state/parts.ts';
import {currentEditedDigest} from './judged-call.ts';
import {changedDecision, isBeingSaved, knownPage} from './known-page.ts';
import {ruleFor} from './new-rules.ts';
import {signatureProblem} from './signatures.ts';

/** Tolerated clock difference between machines. */
const SKEW_MS = 60_000;

/**
 * The valid decisions in the queue and on pages, by id. A decision that is unclear, differs between queue and page, or
 * lacks a signature is reported and ignored. A rejection wins over an approval.
 */
export async function collectDecisions(
  daemon: With<'files' | 'reports' | 'current' | 'approvals' | 'effects'>,
  items: readonly ApprovalItem[],
  by: string,
  now: string,
): Promise<Map<string, CountedDecision>> {
  const {files, reports, approvals} = daemon;
  const accepted = new Map<string, CountedDecision>();
  const byId = new Map<string, ApprovalItem[]>();
  for (const item of items) {
    const open = (item.status ?? 'pending') === 'pending' || !isRecorded(item);
    if (item.id === undefined || isBudget(item) || !(open || mayBeReversed(approvals, item))) continue;
    byId.set(item.id, [...(byId.get(item.id) ?? []), item]);
  }
  for (const id of approvals.reportedInvalid) {
    // The approval was recorded, but found invalid when its call was about to start.
    const stands =
      approvals.waits.for(id).size > 0 && items.some(item => item.id === id && approvalState(item) === 'approved');
    if (byId.has(id) || stands) continue;
    reports.troubles.set(`approval ${id}`, undefined);
    approvals.reportedInvalid.delete(id);
  }
  for (const [id, same] of byId) {
    const [first] = same;
    if (first && mayBeReversed(approvals, first)) {
      const changed = await changedDecision(files, first);
      if (changed && 'problem' in changed) reportInvalid(daemon, id, changed.problem);
      else if (approvals.reportedInvalid.delete(id)) reports.troubles.set(`approval ${id}`, undefined);
      if (changed && 'no' in changed) {
        const {by: who = by, at = now, reason} = changed.no;
        accepted.set(id, {decision: 'rejected', by: who, at, reason});
      }
      continue;
    }
    const decidedOnPage = files.index.definitionsOf(`page/${id}`).some(({state}) => state !== null);
    if (!decidedOnPage && same.every(({decision}) => decision === undefined)) {
      reports.troubles.set(`approval ${id}`, undefined);
      approvals.yesSavedAt.delete(id);
      continue;
    }
    const found = await decisionOn(daemon, id, same, by, now);
    if ('problem' in found) reportInvalid(daemon, id, found.problem);
    else reports.troubles.set(`approval ${id}`, undefined);
    if (!('accepted' in found)) continue;
    accepted.set(id, found.accepted);
    if (found.accepted.decision === 'approved') approvals.noteStep();
  }
  return accepted;
}

function reportInvalid({approvals, reports}: With<'reports' | 'approvals'>, id: string, problem: string): void {
  const {troubles} = reports;
  approvals.reportedInvalid.add(id);
  troubles.set(`approval ${id}`, `approval ${id}: ${problem}`);
}

/** Whether the approval is recorded and its call has not begun, so that a person may still reject it. */
function mayBeReversed({waits}: Approvals, item: ApprovalItem): boolean {
  const {id = '', status, decision, outcome} = item;
  const yes = status === 'approved' && decision === 'approved' && outcome === undefined;
  return yes && isRecorded(item) && waits.for(id).size > 0;
}

/** `later`: not known yet; whatever is missing triggers another look. */
type FoundDecision = {accepted: CountedDecision} | {problem: string} | {later: true};

async function decisionOn(
  daemon: With<'files' | 'reports' | 'current' | 'approvals' | 'effects'>,
  id: string,
  items: readonly ApprovalItem[],
  person: string,
  now: string,
): Promise<FoundDecision> {
  const {files, approvals} = daemon;
  const page = await knownPage(files, pendingPath(id));
  const review = page?.review;
  const rejected = items.find(({decision}) => decision === 'rejected');
  const by = items.find(item => item.by !== undefined)?.by ?? review?.by ?? person;
  const at = items.find(item => item.at !== undefined)?.at ?? review?.at ?? now;
  if (rejected || review?.decision === 'rejected') {
    const reason = rejected?.reason ?? review?.reason ?? review?.notes;
    return {accepted: {decision: 'rejected', by, at, reason}};
  }
  if (items.length > 1) return {problem: 'the queue has it more than once; nothing runs until you remove the copies'};
  const [item] = items;
  if (!item) return {later: true};
  if (item.task.state === 'in_progress' || item.task.state === 'blocked')
    return {problem: `its box [${item.task.box}] is neither yes nor no; nothing runs until you set [x] or [-]`};
  if (page && hasErrors(page.problems))
    return {problem: `${pendingPath(id)} is unclear; nothing runs until you fix it`};
  if (item.decision !== 'approved' && review?.decision !== 'approved') return {later: true};
  // A person reset the item after it was decided: no call waits for it.
  if (approvals.waits.for(id).size === 0) return {later: true};
  const approvedAt = item.at ?? review?.at ?? savedAt(daemon, id, item);
  if (Date.parse(approvedAt) > Date.parse(now) + SKEW_MS)
    return {problem: `its approval time ${approvedAt} is in the future; correct the time or remove it`};
  approvals.yesSavedAt.set(id, approvedAt);
  if (hasExpired({...item, at: approvedAt}, now)) return {later: true};
  const request = approvals.asked.get(id);
  if (!request) {
    for (const path of approvals.waits.for(id)) lookAgain(files, path);
    return {later: true};
  }
  if (isBeingSaved(files, pendingPath(id))) {
    lookAgain(files, pendingPath(id));
    lookAgain(files, APPROVALS_FILE, PAGE_SAVE_MS);
    return {later: true};
  }
  if (page && page.meta.digest !== request.digest)
    return {problem: `${pendingPath(id)} does not match the current request; delete it, and a new page is created`};
  // Use the stated time, unless the decision is in time only by when it was saved.
  return approved(daemon, {item, page, request, by, at: hasExpired({...item, at}, now) ? approvedAt : at});
}

/** When the approval was saved, as first seen: later saves may be the daemon's own. */
function savedAt({files, approvals}: With<'files' | 'approvals'>, id: string, {decision}: ApprovalItem): string {
  const {disk} = files;
  const {clock} = disk;
  const path = decision === 'approved' ? APPROVALS_FILE : pendingPath(id);
  const stat = disk.lstat(path);
  return approvals.yesSavedAt.get(id) ?? new Date(stat ? Number(stat.mtimeMs) : clock.now()).toISOString();
}

interface Approving {
  item: ApprovalItem;
  page: ApprovalFile | undefined;
  request: CallRequest;
  by: string;
  at: string;
}

async function approved(
  daemon: With<'files' | 'reports' | 'current' | 'approvals' | 'effects'>,
  approving: Approving,
): Promise<FoundDecision> {
  const {item, page, request, by, at} = approving;
  const {ask} = request;
  const answer = item.answer ?? page?.review?.answer;
  if (ask.question && answer === undefined)
    return {problem: 'it is a question: add a line "answer: …" with your answer, or reject it'};
  const strayOnPage = page && strayEdit(page.text);
  if (strayOnPage !== undefined) return {problem: `${pendingPath(request.id)} ${strayOnPage}`};
  const strayInQueue = strayInItem(item, request);
  if (strayInQueue !== undefined) return {problem: strayInQueue};
  const edit = editOf(approving);
  if ('problem' in edit) return edit;
  const grants = grantsOf(approving);
  if ('problem' in grants) return grants;
  const isGranted = grants.network || grants.sandbox;
  const unsigned = await signatureProblem(daemon, {
    item,
    digest: request.digest,
    edited: ask.question ? answer : edit.shown,
    grants,
  });
  if (unsigned !== undefined) return {problem: unsigned};
  const changed =
    edit.text !== undefined ? 'the text was changed' : isGranted && 'it was granted more than it asked for';
  const rule = item.always || page?.review?.always ? await ruleFor(daemon, request, changed || undefined) : undefined;
  if (rule && 'later' in rule) return {later: true};
  const original = ask.edits?.argument === 'command' ? askedPart(ask, ask.edits.label) : undefined;
  let edited: Extract<CountedDecision, {decision: 'approved'}>['edited'];
  const text = edit.text ?? (isGranted ? original : undefined);
  if (text !== undefined && ask.edits) {
    const digest = await currentEditedDigest(daemon, request, ask.edits.argument, text, grants);
    if (digest === undefined) return {later: true};
    edited = {digest, grants, ...(original !== undefined && {original, command: text})};
  }
  return {accepted: {decision: 'approved', by, at, edited, answer, rule: rule?.words}};
}

/** Permissions that the person grants on the item or the page, beyond those the call asks for. */
function grantsOf({item, page, request: {ask}}: Approving): Grants | {problem: string} {
  const own = page?.review?.grants;
  const wrong = item.grants?.wrong ?? own?.wrong;
  if (wrong !== undefined)
    return {problem: `"${wrong}" grants nothing; write ${GRANT_LINES.join(' or ')}, or remove the line`};
  const wanted = {...own, ...item.grants};
  const offered = GRANT_LINES.filter(line => (line === 'network: true' ? wanted.network : wanted.sandbox));
  const extra = offered.filter(line => !ask.grants?.includes(line));
  if (extra.length > 0 && ask.edits?.argument !== 'command')
    return {problem: `"${extra[0]}" is for commands only; remove the line`};
  // Skip permissions that the call has without a grant.
  return {
    ...(wanted.network && !extra.includes('network: true') && {network: true}),
    ...(wanted.sandbox && !extra.includes('sandbox: host') && {sandbox: 'host'}),
  };
}

/** The person's edit of the call; empty if the person changed nothing. */
function editOf({item, page, request: {ask}}: Approving): {text?: string; shown?: string} | {problem: string} {
  const {edits} = ask;
  const original = edits && askedPart(ask, edits.label);
  if (!edits || original === undefined) return {};
  const inItem =
    edits.argument !== 'command' || item.command === undefined || item.command.trimEnd() === original.trimEnd()
      ? undefined
      : item.command;
  const shown = page?.action[edits.label.toLowerCase()];
  const onPage = page ? editedText(original, shown) : {unchanged: true as const};
  if ('problem' in onPage) return {problem: `${edits.label} on the page: ${onPage.problem}`};
  const pageText = 'text' in onPage ? onPage.text : undefined;
  if (inItem !== undefined && pageText !== undefined && inItem.trimEnd() !== pageText.trimEnd())
    return {problem: 'the queue and the page differ in what to run; make both the same'};
  if (inItem !== undefined) return {text: inItem, shown: inItem};
  return pageText === undefined || shown === undefined ? {} : {text: pageText, shown};
}

/**
 * The edited text of a decision that was recorded as edited, plain and as shown on the page. `digestOf` computes the
 * current digest of an edited text. Undefined: no text matches the recorded digest.
 */
export async function recordedEdit(
  files: HomeFiles,
  item: ApprovalItem,
  {argument, label, original}: {argument: string; label: string; original: string},
  digestOf: (text: string) => Promise<string>,
): Promise<{text: string; shown: string} | undefined> {
  const wanted = item.task.fields.find(({key}) => key === 'edited_digest')?.value;
  if (argument === 'command') {
    const {command} = item;
    return command !== undefined && (await digestOf(command)) === wanted ? {text: command, shown: command} : undefined;
  }
  for (const folder of ['approved', 'pending']) {
    const page = await knownPage(files, `approvals/${folder}/${item.id}.approval.md`);
    const shown = page?.action[label.toLowerCase()];
    const edit = shown === undefined ? undefined : editedText(original, shown);
    if (shown !== undefined && edit && 'text' in edit && (await digestOf(edit.text)) === wanted)
      return {text: edit.text, shown};
  }
  return undefined;
}

/** The item in the last known version of the queue. */
export async function queueItem(files: HomeFiles, path: string, id: string): Promise<ApprovalItem | undefined> {
  let parsed = files.caches.snapshots.get(path)?.parsed;
  if (parsed?.kind !== 'queue') {
    const blob = files.known.get(path)?.blob;
    const text = blob === undefined ? undefined : await versionText(files, blob, path);
    parsed = text === undefined ? undefined : parseFile(path, text);
  }
  return parsed?.kind === 'queue' ? parsed.file.items.find(item => item.id === id) : undefined;
}
