import {constants, copyFileSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {inFile, type Problem} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {parseWorkflow} from '../../../formats/workflow.ts';
import {migrateWorkflow} from '../../../formats/workflow-v1.ts';

export interface MigratedFile {
  file: string;
  /** Where the file as it was is kept; undefined if nothing was written. */
  backup: string | undefined;
  notes: string[];
  problems: Problem[];
}

/** Convert a workflow file of agent-worker v1 in place. Writes nothing if the file cannot be converted. */
export function migrateFile(file: string): MigratedFile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UserError(`cannot read ${file}: ${(error as Error).message}`, exit.usage, 'name a workflow file');
  }
  const migrated = migrateWorkflow(text);
  if (migrated.text === undefined)
    return {file, backup: undefined, notes: [], problems: inFile(file, migrated.problems)};
  // Problems that the file had before, such as an unknown variable, are for the person to see.
  const problems = inFile(file, parseWorkflow(migrated.text).problems);
  const backup = `${file}.v1`;
  try {
    copyFileSync(file, backup, constants.COPYFILE_EXCL);
  } catch (error) {
    throw new UserError(
      `cannot keep the file as it was in ${backup}: ${(error as Error).message}`,
      exit.failed,
      'move that file away, then run the command again',
    );
  }
  writeFileSync(`${file}.tmp`, migrated.text);
  renameSync(`${file}.tmp`, file);
  return {file, backup, notes: migrated.notes, problems};
}
