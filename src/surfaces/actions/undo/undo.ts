import {chmodSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {kindOf} from '../../../formats/common/key.ts';
import {visibleLine} from '../../../formats/common/visible.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {editFile} from '../../../home/edit-file.ts';
import {blobId} from '../../../home/git/blob-id.ts';
import {removeIfUnchanged} from '../../../home/move.ts';
import {readChange, type WholeChange, withObjects} from '../../../home/one-change.ts';
import {readHomeFile} from '../../../home/read.ts';
import {type StagedWrite, stageFile} from '../../../home/stage.ts';
import {daemonOf} from '../../../home/status.ts';
import {leaveNote} from '../../../home/versions/command-notes.ts';
import {consequencesOf, type UndoConsequences} from './consequences.ts';
import {changesAbout, type FoundChange} from './find-change.ts';
import {type Overlap, overlapWords} from './overlap.ts';
import {type ChangedVersions, planFile, type UndoEdit} from './plan-file.ts';
import {causeOf, refuseChange} from './why-not.ts';

export interface Plan {
  change: WholeChange;
  edits: UndoEdit[];
  told: UndoConsequences;
  versions: ChangedVersions[];
}

/** The result if later changes overlap: nothing may be written. */
export interface Overlapped {
  change: WholeChange;
  overlaps: readonly Overlap[];
}

export function overlapError({change, overlaps}: Overlapped): UserError {
  const where = overlaps.map(overlapWords).join('; ');
  return new UserError(
    `${shown(change)} is not undone, because later changes overlap: ${where}; nothing was written`,
    exit.failed,
    'undo the later change first, or edit the file',
  );
}

/** Throws a UserError if the change cannot be undone completely. */
export async function planUndo(home: string, {commit, about}: FoundChange): Promise<Plan | Overlapped> {
  const change = withoutFollowing(await readChange(home, commit));
  try {
    refuseChange(home, change);
    const versions = await versionsOf(home, change);
    const plans = await Promise.all(versions.map(one => planFile(home, commit, one)));
    const overlaps = plans.flatMap(plan => ('overlap' in plan ? [plan.overlap] : []));
    if (overlaps.length > 0) return {change, overlaps};
    for (const plan of plans) if ('refused' in plan) throw refusal(change, plan.refused, plan.hint);
    const edits = plans.flatMap(plan => ('edit' in plan ? [plan.edit] : []));
    if (edits.length === 0) throw refusal(change, 'nothing of it is left', 'see agentdir log');
    const told = await Promise.all(edits.map(edit => consequencesOf(home, edit)));
    return {
      ...{change, edits, versions},
      told: {
        cannot: [...new Set(told.flatMap(({cannot}) => cannot))],
        next: [...new Set(told.flatMap(({next}) => next))],
      },
    };
  } catch (error) {
    if (!(error instanceof UserError) || about === undefined) throw error;
    // This is only the last change of the named thing; list earlier ones.
    const [, ...others] = await changesAbout(home, about, 5);
    const more = others.length > 0 ? `the changes about ${about} before it: ${others.join('; ')}` : undefined;
    throw new UserError(error.message, error.exitCode, [error.hint, more].filter(Boolean).join('; ') || undefined);
  }
}

/** Of a commit with several state changes of a session, undo those of the session: its request follows. */
function withoutFollowing(change: WholeChange): WholeChange {
  const sessions = change.files.filter(({path}) => kindOf(path) === 'session');
  const isJoined = change.trailers.some(([key]) => key === 'Step');
  return isJoined && sessions.length > 0 ? {...change, files: sessions} : change;
}

function refusal(change: WholeChange, why: string, hint?: string): UserError {
  return new UserError(`${shown(change)} is not undone: ${why}; nothing was written`, exit.failed, hint);
}

function shown({commit, subject}: WholeChange): string {
  return visibleLine(`${commit.slice(0, 7)} (${subject})`);
}

function versionsOf(home: string, change: WholeChange): Promise<ChangedVersions[]> {
  const recorded = causeOf(change) === 'approval';
  return withObjects(home, async read => {
    const all: ChangedVersions[] = [];
    for (const file of change.files) {
      const [before, after] = [
        file.before && (await read(file.before.blob)),
        file.after && (await read(file.after.blob)),
      ];
      if ((file.before && !before) || (file.after && !after))
        throw new UserError(`the repository does not have ${file.path} as it was`, exit.failed, 'git fsck says more');
      all.push({file, before, after, recorded});
    }
    return all;
  });
}

/** Writes all edits as a person would. After a concurrent write, plans again. */
export async function writeUndo(home: string, {change, edits, versions}: Plan): Promise<void> {
  const written: string[] = [];
  for (const edit of edits) {
    try {
      await writeOne(home, change, edit, versions);
    } catch (error) {
      if (!(error instanceof UserError) || written.length === 0) throw error;
      throw new UserError(
        `${error.message}; ${written.join(', ')} was written before that`,
        error.exitCode,
        error.hint,
      );
    }
    written.push(edit.path);
  }
  if (!daemonOf(nodeDisk(home)))
    await stageFile(
      home,
      edits.map(edit => stagedOf(home, edit)),
    );
}

/** The current file, which may be newer than the plan. */
function stagedOf(home: string, {path, now}: UndoEdit): StagedWrite {
  const read = readHomeFile(nodeDisk(home), path);
  if (!read || read.bytes === undefined) return {path, before: now, bytes: undefined, executable: false};
  return {path, before: now, bytes: read.bytes, executable: (read.stat.mode & 0o100n) !== 0n};
}

async function writeOne(
  home: string,
  change: WholeChange,
  edit: UndoEdit,
  versions: readonly ChangedVersions[],
): Promise<void> {
  const {path, now, bytes, executable} = edit;
  const mark = (base: Buffer | undefined, to: Buffer | undefined) =>
    leaveNote(nodeDisk(home), path, to ? blobId(to) : null, {
      base: base ? blobId(base) : null,
      undo: {commit: change.commit, words: wordsOf(change.subject)},
    });
  if (!bytes) {
    mark(now, undefined);
    if (now && !removeIfUnchanged(nodeDisk(home), path, now))
      throw refusal(change, `${path} was changed at the same moment`, 'try again');
    return;
  }
  if (executable !== undefined) {
    mark(now, bytes);
    const {mode} = statSync(join(home, path));
    chmodSync(join(home, path), executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111);
  }
  if (now?.equals(bytes)) return;
  let current: UndoEdit | undefined = edit;
  await editFile(home, path, async () => {
    current ??= await planAgain(home, change, edit, versions);
    const {now: expected, bytes: next = Buffer.alloc(0)} = current;
    current = undefined;
    mark(expected, next);
    return {expected, text: next.toString(), saved: () => undefined};
  });
}

async function planAgain(
  home: string,
  change: WholeChange,
  {path}: UndoEdit,
  versions: readonly ChangedVersions[],
): Promise<UndoEdit> {
  for (const one of versions) {
    const plan = await planFile(home, change.commit, one);
    if ('overlap' in plan) throw overlapError({change, overlaps: [plan.overlap]});
    if ('refused' in plan) throw refusal(change, plan.refused, plan.hint);
    if ('edit' in plan && plan.edit.path === path && plan.edit.bytes) return plan.edit;
  }
  throw refusal(change, `${path} was changed at the same moment`, 'try again');
}

/** `tasks(redis): ticked "x" by hand` → `ticked "x"`. */
function wordsOf(subject: string): string {
  const undo = /: took back ([0-9a-f]{7}) /.exec(subject);
  if (undo) return `the undo of ${undo[1]}`;
  const words = subject.replace(/^\w+\([^)]*\): /, '').replace(/ by hand$/, '');
  return words.length > 60 ? `${words.slice(0, 59).trimEnd()}…` : words;
}
