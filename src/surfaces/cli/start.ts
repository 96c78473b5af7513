import {makeVisible} from '../../files/visible.ts';
import type {Happening, Report} from '../../happening.ts';
import {colors, plural, print} from './output.ts';
import {renderProblem} from './problem.ts';

/** A line for each thing that happens, for people. */
export const reporter: Report = happening => {
  const hint = happening.event === 'serving' ? '. Edit any file; Ctrl-C stops.' : '';
  const line = describe(happening);
  if (line !== undefined) print(`${colors.dim(new Date().toTimeString().slice(0, 8))} ${line}${hint}`);
};

/** Undefined: nothing that a person wants to read. */
export function describe(happening: Happening): string | undefined {
  switch (happening.event) {
    case 'serving':
      return `serving ${colors.bold(happening.home)}: ${plural(happening.agents, 'agent')}, ${plural(happening.sessions, 'session')}, ${plural(happening.tasks, 'task')}`;
    case 'seen':
      return undefined;
    case 'problem':
      return renderProblem(happening.problem, happening.text);
    case 'cleared':
      return `${colors.green('mended')} ${happening.problem.file}:${happening.problem.line} ${colors.dim(happening.problem.code)}`;
    case 'committed':
      return `${colors.green('committed')} ${makeVisible(happening.subject)} ${colors.dim(happening.commit.slice(0, 7))}`;
    case 'merged':
      return `${colors.cyan('merged')} ${happening.path}: it was saved from an older version; both changes are in it`;
    case 'conflict':
      return `${colors.red('conflict')} ${happening.path}: ${makeVisible(happening.conflicts.join('; '))}. What was saved is kept in ${happening.copy}`;
    case 'trouble':
      return `${colors.yellow('waiting')} ${makeVisible(happening.what)}`;
    case 'over':
      return `${colors.green('going on')} ${colors.dim(`no longer: ${makeVisible(happening.what)}`)}`;
    case 'stopping':
      return colors.dim(`stopping (${happening.why})`);
    case 'stopped':
      return 'stopped';
  }
}
