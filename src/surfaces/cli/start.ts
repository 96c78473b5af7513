import {makeVisible} from '../../files/visible.ts';
import type {Happening} from '../../happening.ts';
import {colors, plural, print, printJson} from './output.ts';
import {renderProblem} from './problem.ts';

/** A line for each thing that happens: for people, or JSON for machines. */
export function reporter(json: boolean): (happening: Happening) => void {
  return happening => {
    if (json) {
      const {text: _, ...rest} = {text: undefined, ...happening};
      printJson({time: new Date().toISOString(), ...rest});
    } else print(`${colors.dim(new Date().toTimeString().slice(0, 8))} ${describe(happening)}`);
  };
}

function describe(happening: Happening): string {
  switch (happening.event) {
    case 'serving':
      return `serving ${colors.bold(happening.home)}: ${plural(happening.agents, 'agent')}, ${plural(happening.sessions, 'session')}, ${plural(happening.tasks, 'task')}. Edit any file; Ctrl-C stops.`;
    case 'problem':
      return renderProblem(happening.problem, happening.text);
    case 'cleared':
      return `${colors.green('mended')} ${happening.problem.file}:${happening.problem.line} ${colors.dim(happening.problem.code)}`;
    case 'committed':
      return `${colors.green('committed')} ${makeVisible(happening.commit.subject)} ${colors.dim(happening.commit.commit)}`;
    case 'waiting':
      return `${colors.yellow('waiting')} ${happening.why}`;
    case 'stopped':
      return 'stopped';
  }
}
