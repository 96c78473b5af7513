import {visibleLine} from '../../formats/common/visible.ts';
import {plural} from '../terminal/output.ts';
import type {DoctorFinding} from './doctor-finding.ts';
import {homeStatus} from './status.ts';

/** Problems of files and what waits for a person: the same counts as in `status`, `check` and NEEDS_YOU.md. */
export async function checkFiles(home: string): Promise<DoctorFinding[]> {
  const {errors, warnings, needs, waiting = {}} = await homeStatus(home);
  const {title, file, line} = (waiting.error ?? waiting.warning)?.first[0] ?? {};
  const first = file === undefined ? '' : `; first: ${visibleLine(`${file}:${line} ${title}`)}`;
  const counts = [errors ? plural(errors, 'error') : '', warnings ? plural(warnings, 'warning') : ''].filter(Boolean);
  const files: DoctorFinding =
    errors === null
      ? {
          name: 'files',
          state: 'note',
          message: 'not checked: too many sessions without a daemon',
          hint: 'agentdir check',
        }
      : counts.length === 0
        ? {name: 'files', state: 'ok', message: 'no errors'}
        : {
            name: 'files',
            state: errors > 0 ? 'bad' : 'note',
            message: `${counts.join(', ')}${first}`,
            hint: 'agentdir check',
          };
  if (needs === 0) return [files];
  const message = `${needs === 1 ? '1 thing waits' : `${needs} things wait`} for you`;
  return [files, {name: 'waiting', state: 'note', message, hint: 'agentdir status'}];
}
