import {parseApproval} from '../files/approval/approval.ts';
import {isJournalled, kindOf, stemOf} from '../files/key.ts';
import {parseSession} from '../files/session/session.ts';
import {shortId} from '../store/replaced.ts';
import {pendingPage} from './approvals/approvals.ts';
import type {HomeFiles} from './home-files.ts';
import type {With} from './parts.ts';
import {addEdit, isIgnored, recordOwn} from './record.ts';
import {inGit} from './record-entry.ts';
import type {Seen} from './seen.ts';
import {journalled, textOf} from './state.ts';

/** More than a daemon writes in the time for which what it replaced is kept. */
const PAST = 2_000;

/**
 * At the start: what the last daemon wrote and did not commit is not the person's. What they had saved before it is
 * committed first, as theirs. False if this is an edit of theirs. `passing`: it is not what the file is now.
 */
export async function recordRecovered(
  daemon: With<'files' | 'reports'>,
  seen: Seen,
  passing?: Buffer,
): Promise<boolean> {
  const {files} = daemon;
  const {path, kind} = seen;
  const {blob} = passing ? seen : inGit(files, seen);
  const before = journalled(files, path);
  // Nobody but the daemon puts pages where decided ones are.
  const isMoved = before === undefined && isDecidedPage(path);
  const isMade = before === undefined && isMadeHere(path, seen.text);
  const isOurs = isMoved || isMade || files.versions.earlier.writtenBefore.has(shortId(blob));
  if (blob !== seen.blob || !isOurs || !isJournalled(kind)) return false;
  if (before === blob || (before === undefined && (await isIgnored(files, path)))) return true;
  let base = files.versions.earlier.madeFrom.get(shortId(blob));
  // It may have written one version twice, and so have made each from the other.
  const passed = new Set<string>();
  while (
    base !== undefined &&
    base !== before &&
    files.versions.earlier.writtenBefore.has(shortId(base)) &&
    !passed.has(base)
  ) {
    passed.add(base);
    base = files.versions.earlier.madeFrom.get(shortId(base));
  }
  // Not every version of the last daemon's was ever in the file, so HEAD's need not be among those found.
  // A page that was moved was made from the one that waited.
  const paths = isMoved ? [path, pendingPage(stemOf(path))] : [path];
  const past = base === undefined || base === before ? [] : await versionsAt(files, paths);
  const known = base === undefined || base === before || past.includes(base);
  const bytes = known ? undefined : await files.journal.read(base ?? '');
  if (bytes && !(before === undefined && isMadeHere(path, bytes.toString()))) {
    const old = before === undefined ? undefined : await textOf(files, before);
    addEdit(daemon, seen, old, {passing: bytes});
  }
  recordOwn(daemon, seen, {words: 'as the daemon left it', cause: 'recovered', ...agentOf(seen)}, passing);
  files.versions.earlier.writtenBefore.delete(shortId(blob));
  return true;
}

function isDecidedPage(path: string): boolean {
  return /^approvals\/(?:approved|rejected)\//.test(path);
}

/** Whether a file that git does not have yet is one that only the daemon makes: such a session, or a page as it moves it. */
function isMadeHere(path: string, text: string | undefined): boolean {
  if (!isDecidedPage(path)) return isMadeForDelivery(path, text);
  if (text === undefined) return false;
  const {meta, review} = parseApproval(text);
  // One that asks, and nobody decided on.
  return meta.status === 'approved' || meta.status === 'rejected' || review?.decision === undefined;
}

/** Whether a session was begun by what was brought to it, which only the daemon does, and nobody has written below it. */
function isMadeForDelivery(path: string, text: string | undefined): boolean {
  if (kindOf(path) !== 'session' || text === undefined) return false;
  const {header, messages} = parseSession(text);
  const [first] = messages;
  const isOwn = header?.session_id === stemOf(path) && header.created === first?.timestamp;
  return isOwn && first?.delivery !== undefined && messages.every(({timestamp}) => timestamp !== undefined);
}

async function versionsAt({journal}: HomeFiles, paths: readonly string[]): Promise<string[]> {
  const all = await Promise.all(paths.map(path => journal.versions(path, PAST)));
  return all.flat().map(({blob}) => blob);
}

/** Whose the last message is, if an agent's. */
function agentOf({parsed, facts}: Seen): {agent?: string} {
  const last = parsed?.kind === 'session' ? parsed.file.messages.at(-1)?.role : undefined;
  const agent = facts.session?.agent;
  return agent !== undefined && (last === 'assistant' || last === 'tool_result') ? {agent} : {};
}
