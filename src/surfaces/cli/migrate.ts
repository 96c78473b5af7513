import {hasErrors} from '../../formats/common/diagnostic.ts';
import {exit} from '../../formats/common/errors.ts';
import {migrateFile} from '../actions/workflows/migrate.ts';
import {colors, complain, note, print, printJson} from '../terminal/output.ts';

export function migrateCommand({file, json}: {file: string; json: boolean}): number {
  const {backup, notes, problems} = migrateFile(file);
  for (const {file: of, line, column, severity, code, message, hint} of problems)
    complain(`${of}:${line}:${column}: ${severity} ${code}: ${message}`, hint);
  if (json) printJson({file, backup: backup ?? null, notes, problems});
  else if (backup !== undefined) {
    print(`${colors.green('converted')} ${file}; as it was: ${backup}`);
    for (const each of notes) note(each);
  }
  return hasErrors(problems) ? exit.badFile : exit.done;
}
