import {existsSync, realpathSync} from 'node:fs';
import {relative, resolve, sep} from 'node:path';
import {hasErrors, type Problem} from '../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {kindOf} from '../../formats/common/key.ts';
import {lineStarts} from '../../formats/common/lines.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {indexHome} from '../actions/load-home.ts';
import {colors, plural, print, printJson, printWhole} from '../terminal/output.ts';
import {renderProblem} from './problem.ts';
import {progressOn} from './progress.ts';

export interface CheckOptions {
  home: string;
  files: readonly string[];
  json: boolean;
}

/** Prints problems like a compiler. */
export function checkCommand({home: dir, files, json}: CheckOptions): number {
  const wanted = files.map(file => homePath(dir, file));
  const {index, texts} = indexHome(dir, progressOn(process.stderr, json, 'files'));
  const within = (file: string) =>
    wanted.length === 0 || wanted.some(path => path === '' || file === path || file.startsWith(`${path}/`));
  const problems = index.all().filter(p => within(p.file));
  const checked = [...texts.keys()].filter(within).length;
  if (checked === 0 && problems.length === 0)
    throw new UserError(
      `nothing to check in ${files.join(' ')}`,
      exit.usage,
      'docs/formats lists the files that Agentdir reads',
    );
  if (json) printJson({problems: problems.map(toJson)});
  else report(problems, texts, checked);
  return hasErrors(problems) ? exit.badFile : exit.done;
}

function toJson({code, severity, file, line, column, message, hint}: Problem): Problem {
  return {code, severity, file, line, column, message, hint};
}

/** A path as given on the command line → relative to the home. */
function homePath(dir: string, file: string): string {
  const full = resolve(file);
  if (!existsSync(full)) throw new UserError(`${file} does not exist`, exit.usage);
  const path = relative(dir, realpathSync(full)).split(sep).join('/');
  if (path.startsWith('../') || path === '..')
    throw new UserError(`${file} is not in the home ${dir}`, exit.usage, 'name its home with --home DIR');
  const isFolder = path === '' || !path.includes('.') || existsSync(`${full}/.`);
  if (!isFolder && !kindOf(path))
    throw new UserError(
      `${file} is not a file that Agentdir reads`,
      exit.usage,
      'docs/formats lists the files that Agentdir reads',
    );
  return path;
}

/** Per file, on a terminal. */
const MAX_PROBLEMS_SHOWN = 100;

function report(problems: readonly Problem[], texts: ReadonlyMap<string, string>, files: number): void {
  let file: string | undefined;
  let starts: number[] = [];
  let shown = 0;
  for (const problem of problems) {
    const text = texts.get(problem.file);
    if (problem.file !== file) {
      file = problem.file;
      starts = lineStarts(text ?? '');
      shown = 0;
    }
    // Do not print a secret.
    const excerpt = problem.code === 'SECRET_IN_FILE' ? undefined : text;
    if (shown++ < MAX_PROBLEMS_SHOWN) printWhole(`${renderProblem(problem, excerpt, starts)}\n`);
    else if (shown === MAX_PROBLEMS_SHOWN + 2) print(`${visibleLine(file)}: more problems: use --json to list all\n`);
  }
  const errors = problems.filter(p => p.severity === 'error').length;
  const warnings = problems.length - errors;
  if (problems.length === 0) print(`${colors.green('✓')} ${plural(files, 'file')} checked, no problems`);
  else {
    const counts = [
      errors > 0 ? colors.red(plural(errors, 'error')) : '',
      warnings > 0 ? colors.yellow(plural(warnings, 'warning')) : '',
    ].filter(Boolean);
    print(`${counts.join(', ')} in ${plural(new Set(problems.map(p => p.file)).size, 'file')} (${files} checked)`);
  }
}
