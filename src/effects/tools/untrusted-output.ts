import {readdirSync, realpathSync} from 'node:fs';
import {join, resolve, sep} from 'node:path';
import {readsOnlyNamed} from '../../policy/command/proven-inside.ts';
import type {ToolName} from '../../policy/tools.ts';
import type {Program} from '../sandbox/run.ts';
import {errorCode} from '../tool/failure.ts';
import type {ToolContext, ToolResult} from '../tool/tool.ts';
import {UNTRUSTED_FOLDER} from '../workspace/changed-files.ts';
import {taintShown, untrustedFrom} from './task-taint.ts';

/** Name of a file with command output or a fetched page. */
export function outputName(session: string, call: string, stream: string): string {
  return [safe(session), safe(call), stream, 'txt'].join('.');
}

function safe(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 80);
}

const untrustedFile = new RegExp(`${UNTRUSTED_FOLDER.replace('.', '\\.')}/[\\w-]+\\.[\\w-]+\\.`);

/** Whether a line names the untrusted folder, in any letter case. Only then may its commands see what is in it. */
export function namesUntrusted(line: string, words: readonly string[]): boolean {
  return [line, ...words].some(text => text.toLowerCase().includes(UNTRUSTED_FOLDER));
}

export function hasUntrusted(workspace: string): boolean {
  try {
    return readdirSync(join(workspace, UNTRUSTED_FOLDER)).length > 0;
  } catch (error) {
    return errorCode(error) !== 'ENOENT';
  }
}

/** Whether a program outside the sandbox, where nothing is hidden, may read the folder without naming it. */
export function mayReadUntrusted({argv, confined}: Program, workspace: string): boolean {
  return !confined && (!readsOnlyNamed(argv) || argv.slice(1).some(word => leadsThere(word, workspace)));
}

/** Whether a word, or the option value in it, leads into the folder through links. */
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

const showing: ReadonlySet<ToolName> = new Set<ToolName>([
  'read_file',
  'edit_file',
  'grep',
  'search_files',
  'execute_command',
]);

/** Mark a result that shows text of an untrusted file, or of tasks with external sources. */
export async function markUntrusted(name: ToolName, result: ToolResult, context: ToolContext): Promise<ToolResult> {
  if (!showing.has(name) || result.untrusted === true) return result;
  if (untrustedFile.test(JSON.stringify(result))) return {...result, untrusted: true};
  const sources = await taintShown(result, context);
  return sources.length > 0 ? {...result, ...untrustedFrom(sources)} : result;
}
