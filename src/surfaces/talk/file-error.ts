import {exit, UserError} from '../../errors.ts';
import type {Problem} from '../../files/diagnostic.ts';
import {makeVisible} from '../../files/visible.ts';

/** The first error of a file, as a reason not to go on. */
export function fileError(path: string, problems: readonly Problem[]): UserError {
  const wrong = problems.find(({severity}) => severity === 'error') ?? problems[0];
  const place = wrong ? `:${wrong.line}:${wrong.column}: ${makeVisible(wrong.message)}` : ' has errors';
  return new UserError(
    `${path}${place}`,
    exit.badFile,
    `${wrong ? `${wrong.hint}; ` : ''}all problems: agentdir check`,
  );
}
