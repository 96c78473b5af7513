import {hasErrors} from '../../../formats/common/diagnostic.ts';
import {parseSettings, type Settings} from '../../../formats/settings.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {readHomeFile} from '../../../home/read.ts';
import {fileError} from '../talk/file-error.ts';

/** The settings of a home. A file with errors is refused. */
export function readSettings(home: string): Settings {
  const read = readHomeFile(nodeDisk(home), 'agentdir.yaml');
  if (read && !('text' in read)) throw fileError('agentdir.yaml', [read.problem]);
  const file = parseSettings(read?.text ?? '');
  if (hasErrors(file.problems)) throw fileError('agentdir.yaml', file.problems);
  return file.value ?? {};
}
