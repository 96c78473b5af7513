import {isUtf8} from 'node:buffer';
import {isQueue, parseFile} from '../../../check/parse-file.ts';
import {historyProblems} from '../../../check/session-history.ts';
import {parseApproval} from '../../../formats/approval/approval.ts';
import {APPROVALS_FILE, readApprovalItems} from '../../../formats/approval/approval-item.ts';
import {hasErrors} from '../../../formats/common/diagnostic.ts';
import {type Kind, keyOf, kindOf, stemOf} from '../../../formats/common/key.ts';
import {parseSession} from '../../../formats/session/session.ts';
import {parseTasks} from '../../../formats/task/task-parse.ts';
import {approvesOnPage, decidedBy, decidesIn, queueWords, withoutDecisions} from '../../../formats/undo/undo-queue.ts';
import {type TextUndo, undoText} from '../../../formats/undo/undo-text.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {blobId} from '../../../home/git/blob-id.ts';
import {blobInHead, type FileOfChange, laterVersions} from '../../../home/one-change.ts';
import {listHome, readHomeFile} from '../../../home/read.ts';
import {callOf} from '../decide/asked-for.ts';
import {whyApproved} from './approved-calls.ts';
import {type Overlap, overlapOf} from './overlap.ts';
import {workspaceUndo} from './workspace-undo.ts';

/** The edit that undoes the change of one file. */
export interface UndoEdit {
  path: string;
  kind: Kind;
  /** The current content; undefined if there is no file. */
  now: Buffer | undefined;
  /** Undefined to remove the file. */
  bytes: Buffer | undefined;
  /** The new executable bit; undefined to keep it. */
  executable: boolean | undefined;
  /** For the report. */
  undo: Extract<TextUndo, {text: string}> | undefined;
  /** Requests that become pending again. */
  asked: readonly string[];
}

export type FilePlan =
  | {edit: UndoEdit}
  | {refused: string; hint?: string | undefined}
  | {overlap: Overlap}
  /** Nothing of the change is left. */
  | {nothing: true};

export interface ChangedVersions {
  file: FileOfChange;
  before: Buffer | undefined;
  after: Buffer | undefined;
  /** The daemon wrote it into the queue. */
  recorded: boolean;
}

/** Plans from the current file; call again if the file changes before the write. */
export async function planFile(home: string, commit: string, versions: ChangedVersions): Promise<FilePlan> {
  const {file, before, after, recorded} = versions;
  const {path} = file;
  const kind = kindOf(path) as Kind;
  const read = readHomeFile(nodeDisk(home), path);
  if (read && read.bytes === undefined) return {refused: `${path} cannot be read`, hint: 'agentdir check'};
  const now = read?.bytes;
  const locked = read && whyLocked(path, read);
  if (locked) return locked;
  if ([before, after, now].some(bytes => bytes && !isUtf8(bytes)))
    return {refused: `${path} is not UTF-8 text`, hint: `by git: git checkout ${commit.slice(0, 7)}^ -- ${path}`};
  const plain = {path, kind, now, executable: undefined, undo: undefined, asked: []};
  if (kind === 'approval' && !now && before && after) return planPage(home, path, before, after);
  if (path === APPROVALS_FILE && after && now) {
    const decided = decidedBy(before?.toString(), after.toString());
    if (recorded) return {refused: queueWords(before?.toString(), after.toString()) ?? 'it is a record of the daemon'};
    if (decided.length > 0) return planDecisions(home, decided, before?.toString() ?? '');
  }
  if (!after) return planRestored(home, {...plain, bytes: before}, commit);
  if (!before) return planRemoved(home, commit, plain, after);
  if (!now) {
    const gone = (text: string | undefined) => (text === undefined ? 'it was removed' : undefined);
    return {overlap: await overlapOf(home, commit, {path, after: after.toString(), now: ''}, gone)};
  }
  return planEdit(home, commit, {...plain, now}, {file, before, after});
}

async function planEdit(
  home: string,
  commit: string,
  plain: Omit<UndoEdit, 'bytes'> & {now: Buffer},
  {file, before, after}: {file: FileOfChange; before: Buffer; after: Buffer},
): Promise<FilePlan> {
  const {path, kind, now} = plain;
  const executable = file.before?.mode === file.after?.mode ? undefined : file.before?.mode === '100755';
  if (before.equals(after)) return {edit: {...plain, bytes: now, executable}};
  const texts = {path, kind, before: before.toString(), after: after.toString(), now: now.toString()};
  const undo = undoText(kind, texts.before, texts.after, texts.now);
  if ('refused' in undo) return {refused: `${path}: ${undo.refused}`};
  if ('overlaps' in undo) {
    const inTheWay = (text: string | undefined) => {
      const tried =
        text === undefined ? {overlaps: ['it was removed']} : undoText(kind, texts.before, texts.after, text);
      return 'overlaps' in tried ? tried.overlaps.join(', ') : undefined;
    };
    return {overlap: await overlapOf(home, commit, texts, inTheWay)};
  }
  if (undo.text === texts.now && executable === undefined) return {nothing: true};
  const wrong = whyWrong(path, texts.now, undo.text) ?? (kind === 'session' && whyApproved(home, texts.now, undo.text));
  if (wrong) return wrong;
  return {edit: {...plain, bytes: Buffer.from(undo.text), executable, undo}};
}

/** An undo must not create errors in a valid file, or a decision. */
function whyWrong(path: string, now: string | undefined, text: string): {refused: string; hint?: string} | undefined {
  if (isQueue(path)) {
    const decides = decidesIn(now ?? '', text);
    if (decides)
      return {
        refused: `${decides.id} would be ${decides.as} by it, and only a fresh decision may do that`,
        hint: `agentdir approve ${decides.id}`,
      };
  }
  if (kindOf(path) === 'approval' && approvesOnPage(now, text))
    return {
      refused: `${path} would say yes again, and only a fresh decision may do that`,
      hint: `agentdir approve ${stemOf(path)}`,
    };
  // A restored file keeps its errors.
  const [first] = now === undefined ? [] : problemsIn(path, text);
  if (first && problemsIn(path, now ?? '').length === 0)
    return {
      refused: `${path} would have an error then, in line ${first.line}: ${first.message}`,
      hint: 'edit the file',
    };
  return undefined;
}

function problemsIn(path: string, text: string) {
  const parsed = parseFile(path, text);
  const own = parsed?.file === undefined || !('problems' in parsed.file) ? [] : parsed.file.problems;
  const all = parsed?.kind === 'session' ? [...own, ...historyProblems(path, parsed.file)] : own;
  return all.filter(problem => hasErrors([problem]));
}

/** Removes a created file, if only the daemon has filled in fields since. */
async function planRemoved(
  home: string,
  commit: string,
  plain: Omit<UndoEdit, 'bytes'>,
  after: Buffer,
): Promise<FilePlan> {
  const {path, kind, now} = plain;
  if (!now) return {nothing: true};
  if (kind === 'approval') return {refused: `${path} is the page of a request`, hint: 'agentdir approvals'};
  const edit = {...plain, bytes: undefined};
  const texts = {path, after: after.toString(), now: now.toString()};
  const worked = (text = '') =>
    text === texts.after || isOnlyFilledIn(kind, texts.after, text) ? undefined : 'it was worked on since';
  if (worked(texts.now) !== undefined) return {overlap: await overlapOf(home, commit, texts, worked)};
  // Uncommitted content would be lost.
  if ((await blobInHead(home, path)) !== blobId(now))
    return {refused: `${path} has changes that are not in the journal yet`, hint: 'agentdir start --once commits them'};
  return {edit};
}

function isOnlyFilledIn(kind: Kind, after: string, now: string): boolean {
  if (kind === 'tasks') {
    const undo = undoText(kind, '', after, now);
    return 'text' in undo && undo.text.trim() === '';
  }
  if (kind !== 'session') return false;
  const said = (text: string) => parseSession(text).messages.map(({role, content}) => [role, content]);
  return JSON.stringify(said(after)) === JSON.stringify(said(now));
}

/** Restores a removed file. */
async function planRestored(home: string, edit: UndoEdit, commit: string): Promise<FilePlan> {
  const {path, now, bytes} = edit;
  if (!bytes) return {nothing: true};
  if (now?.equals(bytes)) return {nothing: true};
  const text = bytes.toString();
  if (now) {
    const there = (other: string | undefined) => (other === undefined ? undefined : 'there is another file by now');
    return {overlap: await overlapOf(home, commit, {path, after: '', now: now.toString()}, there)};
  }
  // Only the last removal can be undone; an earlier version lacks later changes.
  const later = await laterVersions(home, commit, path);
  const last = later.some(({blob}) => blob !== undefined) ? later.at(-1) : undefined;
  if (last) return {overlap: {...last, path, line: 1, why: 'it came back since, and was removed again'}};
  const key = keyOf(path);
  const other = listHome(nodeDisk(home)).paths.find(one => one !== path && keyOf(one) === key);
  if (other !== undefined)
    return {
      refused: `${path} is ${other} now, and two files cannot have one id`,
      hint: `to move it back: git mv ${other} ${path}`,
    };
  const approved = edit.kind === 'session' ? whyApproved(home, undefined, text) : undefined;
  return whyWrong(path, undefined, text) ?? approved ?? {edit};
}

/** A decision on a page that has moved since: undo it in the queue. */
function planPage(home: string, path: string, before: Buffer, after: Buffer): FilePlan | Promise<FilePlan> {
  const decision = (page: Buffer) => parseApproval(page.toString()).review?.decision;
  const said = decision(after);
  if (said === undefined || said === decision(before)) return {refused: `${path} is not there any more`};
  return planDecisions(home, [stemOf(path)], '');
}

/** Makes decided requests pending again. */
async function planDecisions(home: string, ids: readonly string[], before: string): Promise<FilePlan> {
  const read = readHomeFile(nodeDisk(home), APPROVALS_FILE);
  if (!read || !('text' in read)) return {refused: `${APPROVALS_FILE} cannot be read`};
  const was = new Map(readApprovalItems(parseTasks(before)).items.map(({id, command}) => [id, command]));
  const undo = withoutDecisions(
    read.text,
    ids,
    id => was.get(id),
    item => {
      const found = item.id === undefined ? undefined : callOf(home, {...item, id: item.id, path: APPROVALS_FILE});
      return found?.call.approval === item.id ? found?.call.started : undefined;
    },
  );
  if ('refused' in undo) return {...undo, hint: undo.hint ?? (await workspaceHint(home, read.text, ids))};
  if (undo.text === read.text) return {nothing: true};
  const edit = {path: APPROVALS_FILE, kind: 'tasks' as const, now: read.bytes, bytes: Buffer.from(undo.text)};
  return {edit: {...edit, executable: undefined, undo: undefined, asked: undo.asked}};
}

async function workspaceHint(home: string, queue: string, ids: readonly string[]): Promise<string | undefined> {
  for (const {id, agent, call} of readApprovalItems(parseTasks(queue)).items)
    if (id !== undefined && ids.includes(id) && agent !== undefined && call !== undefined)
      return workspaceUndo(home, agent, call);
  return undefined;
}

/** Checks that a file is writable before anything is written. */
function whyLocked(path: string, {link, stat}: {link: boolean; stat: {mode: bigint}}): FilePlan | undefined {
  if (link) return {refused: `${path} is a link, and nothing is written through it`, hint: 'edit the file it leads to'};
  if ((stat.mode & 0o222n) === 0n) return {refused: `${path} is read-only`, hint: `chmod u+w ${path}`};
  return undefined;
}
