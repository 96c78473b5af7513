import {readdirSync, realpathSync} from 'node:fs';
import {join, resolve, sep} from 'node:path';
import {readsOnlyNamed} from '../../policy/command/reads-only-named.ts';
import type {ToolName} from '../../policy/tools.ts';
import type {Program} from '../sandbox/run.ts';
import {errorCode} from '../tool/failure.ts';
import type {ToolContext, ToolResult} from '../tool/tool.ts';
import {UNTRUSTED_FOLDER} from '../workspace/changed-files.ts';
import {taintShown, untrustedFrom} from './task-taint.ts';

/** A file of what was printed or fetched. */
export function outputName(session: string, call: string, stream: string): string {
  return [safe(session), safe(call), stream, 'txt'].join('.');
}

function safe(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 80);
}

const untrustedFile = new RegExp(`${UNTRUSTED_FOLDER.replace('.', '\\.')}/[\\w-]+\\.[\\w-]+\\.`);

/** Whether a line, or what is read of it, names the folder, also as disks know it that tell no cases apart. Only then its commands are shown what is in it. */
export function namesUntrusted(line: string, words: readonly string[]): boolean {
  return [line, ...words].some(text => text.toLowerCase().includes(UNTRUSTED_FOLDER));
}

/** Whether there is anything in the folder. */
export function hasUntrusted(workspace: string): boolean {
  try {
    return readdirSync(join(workspace, UNTRUSTED_FOLDER)).length > 0;
  } catch (error) {
    return errorCode(error) !== 'ENOENT';
  }
}

/** Whether a program outside the sandbox, where nothing is hidden, may read the folder although no word spells it. */
export function mayReadUntrusted({argv, confined}: Program, workspace: string): boolean {
  return !confined && (!readsOnlyNamed(argv) || argv.slice(1).some(word => leadsThere(word, workspace)));
}

/** By links: of a word, or of the value that it gives to an option. */
function leadsThere(word: string, workspace: string): boolean {
  const values = [word, word.slice(word.indexOf('=') + 1), word.replace(/^-[A-Za-z0-9]/, '')];
  return values.some(value => {
    try {
      return realpathSync(resolve(workspace, value)).toLowerCase().split(sep).includes(UNTRUSTED_FOLDER);
    } catch {
      return false;
    }
  });
}

/** Tools whose results have the text of files. */
const showing: ReadonlySet<ToolName> = new Set<ToolName>([
  'read_file',
  'edit_file',
  'grep',
  'search_files',
  'execute_command',
]);

/** A result that shows text of such a file, or of tasks that something from outside led to, says so. */
export async function markUntrusted(name: ToolName, result: ToolResult, context: ToolContext): Promise<ToolResult> {
  if (!showing.has(name) || result.untrusted === true) return result;
  if (untrustedFile.test(JSON.stringify(result))) return {...result, untrusted: true};
  const sources = await taintShown(result, context);
  return sources.length > 0 ? {...result, ...untrustedFrom(sources)} : result;
}
