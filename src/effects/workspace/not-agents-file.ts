import {textOfName} from './byte-folder.ts';
import {OUTPUT_FOLDER, UNTRUSTED_FOLDER} from './changed-files.ts';
import {isGitName} from './git-name.ts';
import {isTemporary} from './replace-file.ts';

/** Not the agent's work: any spelling of `.git`, and the daemon's own files. */
export function isNotAgentsFile(bytes: string, depth: number): boolean {
  const name = textOfName(bytes);
  if (isGitName(name) || isTemporary(name)) return true;
  return depth === 0 && (name === OUTPUT_FOLDER || name === UNTRUSTED_FOLDER || /^\.git-found-/.test(name));
}

/** Git does not accept a link of this name in an index. */
export function isModulesName(name: string): boolean {
  const folded = name.normalize('NFKD').replace(/[\p{M}\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
  return /^(?:\.gitmodules|gitmod~\d|gi7eb[0-9a-f]~\d)/i.test(folded);
}
