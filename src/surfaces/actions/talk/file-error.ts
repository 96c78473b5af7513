import type {Problem} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {makeVisible} from '../../../formats/common/visible.ts';

/** An error for a file with problems. */
export function fileError(path: string, problems: readonly Problem[]): UserError {
  const wrong = problems.find(({severity}) => severity === 'error') ?? problems[0];
  const place = wrong ? `:${wrong.line}:${wrong.column}: ${makeVisible(wrong.message)}` : ' has errors';
  return new UserError(
    `${path}${place}`,
    exit.badFile,
    `${wrong ? `${wrong.hint}; ` : ''}all problems: agentdir check`,
  );
}
