import {lstatSync, readdirSync, unlinkSync} from 'node:fs';
import {isFailure} from '../tool/failure.ts';
import type {ToolContext} from '../tool/tool.ts';
import {closeFolder, entryOf, type Folder, openFolder} from './folder.ts';
import {makeToolPath} from './place.ts';

/** Default of `limits.output_mb`, in bytes. */
const MOST_BYTES = 200 * 1024 * 1024;
/** The oldest files are removed until the rest takes this part of the limit. */
const KEPT_PART = 0.75;
/** A younger file may still be written, or its result is still to be read. */
const YOUNG_MS = 60_000;

interface OutputFile {
  name: string;
  size: number;
  changed: number;
}

/** How many bytes may be added to a folder with long outputs. Removes the oldest files if the folder is nearly full. */
export function makeOutputRoom(context: ToolContext, folderName: string): number {
  const {outputs} = context;
  const most = outputs?.most ?? MOST_BYTES;
  const folder = openFolder(context, makeToolPath('workspace', [folderName]), undefined, {make: true});
  if (isFailure(folder)) return most;
  try {
    const files = outputFiles(folder);
    let used = files.reduce((sum, {size}) => sum + size, 0);
    if (outputs?.keepsOld) return most - used;
    const removable = files.filter(({changed}) => changed < Date.now() - YOUNG_MS);
    for (const {name, size} of removable) {
      if (used <= KEPT_PART * most) break;
      unlinkSync(entryOf(folder, name));
      used -= size;
    }
    return most - used;
  } finally {
    closeFolder(folder);
  }
}

/** The files of the folder, oldest first. Links and folders in it are the agent's own. */
function outputFiles(folder: Folder): OutputFile[] {
  const files = readdirSync(folder.path).flatMap((name): OutputFile[] => {
    const stat = lstatSync(entryOf(folder, name), {throwIfNoEntry: false});
    return stat?.isFile() ? [{name, size: stat.size, changed: stat.mtimeMs}] : [];
  });
  return files.sort((a, b) => a.changed - b.changed);
}
