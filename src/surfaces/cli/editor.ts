import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {UserError} from '../../formats/common/errors.ts';

/** Opens an editor on a private temporary file and returns the text. */
export function inEditor(text: string, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentdir-edit-'));
  try {
    const path = join(folder, name);
    writeFileSync(path, text.endsWith('\n') ? text : `${text}\n`);
    const editor = process.env.VISUAL || process.env.EDITOR || 'vi';
    // Like git, allow options in the variable. Stdout is reserved for the command.
    const screen = process.stdout.isTTY ? 'inherit' : 2;
    const {status, signal, error} = spawnSync('sh', ['-c', `${editor} "$@"`, editor, path], {
      stdio: ['inherit', screen, 'inherit'],
    });
    if (error || status !== 0)
      throw new UserError(
        `the editor failed: ${editor}: ${error?.message ?? signal ?? `exit code ${status}`}`,
        undefined,
        'set VISUAL or EDITOR',
      );
    return readFileSync(path, 'utf8');
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}
