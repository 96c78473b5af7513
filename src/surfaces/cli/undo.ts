import {createTwoFilesPatch, OMIT_HEADERS} from 'diff';
import {exit} from '../../formats/common/errors.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import {findChange} from '../actions/undo/find-change.ts';
import type {Overlap} from '../actions/undo/overlap.ts';
import type {UndoEdit} from '../actions/undo/plan-file.ts';
import {overlapError, planUndo, writeUndo} from '../actions/undo/undo.ts';
import {colors, print, printError, printJson, printWhole} from '../terminal/output.ts';

interface UndoOptions {
  home: string;
  /** A commit, or the id of its subject. */
  id: string;
  dryRun: boolean;
  json: boolean;
}

const MOST_LINES = 40;

export async function undoCommand({home, id, dryRun, json}: UndoOptions): Promise<number> {
  const plan = await planUndo(home, await findChange(home, id));
  const {commit, author, time, subject} = plan.change;
  const undone = {commit, author, time, subject};
  if ('overlaps' in plan) {
    const error = overlapError(plan);
    if (json)
      printJson({error: error.message, hint: error.hint ?? null, undone, overlaps: plan.overlaps.map(overlapJson)});
    if (!json) printError(error, false);
    return exit.failed;
  }
  const {edits, told} = plan;
  if (!dryRun) await writeUndo(home, plan);
  if (json) {
    const files = edits.map(edit => ({path: edit.path, what: whatOf(edit), diff: diffOf(edit)}));
    printJson({undone, dry_run: dryRun, files, cannot: told.cannot, next: told.next});
    return exit.done;
  }
  const words = visibleLine(`${commit.slice(0, 7)} ${subject} (${author})`);
  print(`${dryRun ? colors.yellow('would undo') : colors.green('undone')}: ${words}`);
  for (const edit of edits) {
    print(`${colors.bold(visibleLine(edit.path))}: ${whatOf(edit)}`);
    const diff = diffOf(edit);
    if (diff !== '') printWhole(painted(diff));
  }
  if (told.cannot.length > 0) print('not undone:');
  for (const line of told.cannot) print(`  ${visibleLine(line)}`);
  for (const line of told.next) print(`${colors.yellow('→')} ${visibleLine(line)}`);
  if (!dryRun && !daemonOf(nodeDisk(home))) print(colors.dim('no daemon is running: the next start commits it'));
  return exit.done;
}

/** Null if it is not committed yet. */
function overlapJson({path, line, commit, author, subject, why}: Overlap) {
  return {path, line, commit: commit ?? null, author: author ?? null, subject: subject ?? null, why};
}

function whatOf({now, bytes, executable}: UndoEdit): string {
  if (!bytes) return 'removed';
  if (!now) return 'restored';
  if (now.equals(bytes)) return executable ? 'made executable' : 'made not executable';
  return 'edited';
}

function diffOf({now, bytes}: UndoEdit): string {
  if (!now || !bytes) return '';
  const options = {context: 1, maxEditLength: 1000, headerOptions: OMIT_HEADERS};
  const patch = createTwoFilesPatch('', '', now.toString(), bytes.toString(), undefined, undefined, options) ?? '';
  const lines = patch.trimEnd().split('\n');
  const rest = lines.length - MOST_LINES;
  return lines.slice(0, MOST_LINES).join('\n') + (rest > 0 ? `\n… and ${rest} more lines` : '');
}

function painted(diff: string): string {
  return makeVisible(diff, false)
    .split('\n')
    .map(line => {
      const paint = line.startsWith('+') ? colors.green : line.startsWith('-') ? colors.red : colors.dim;
      return `  ${paint(line)}`;
    })
    .join('\n');
}
