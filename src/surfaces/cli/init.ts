import {join, relative, resolve} from 'node:path';
import {createHome} from '../../home/create.ts';
import {colors, plural, print, printJson, printWhole, screenWidth} from '../terminal/output.ts';
import {isOnPath, stepLines} from './first-steps.ts';

export async function initCommand({dir, source, json}: {dir: string; source: string; json: boolean}): Promise<number> {
  const created = await createHome(resolve(dir), source);
  if (json) {
    printJson(created);
    return 0;
  }
  const already = created.made.length === 0;
  print(
    already
      ? `${created.dir} is already a home; ${created.newRepository ? 'made a git repository for it' : 'nothing to add'}`
      : `${colors.green('✓')} ${created.left.length > 0 ? 'Completed the' : 'New'} home in ${colors.bold(created.dir)} (${plural(created.made.length, 'file')}${created.commit ? `, commit ${created.commit}` : ''})`,
  );
  if (created.left.length > 0 && !already)
    print(
      `  unchanged: ${created.left.slice(0, 6).join(', ')}${created.left.length > 6 ? ` and ${created.left.length - 6} more` : ''}`,
    );
  printWhole(nextSteps(created.dir));
  print(
    'Everything is a file: edit templates/, tasks/ and allowlist.yaml with your editor, and see what happened in git log.',
  );
  if (!isOnPath(process.env.PATH ?? '')) {
    print('\nThe command agentdir is not on your PATH yet:');
    const step = [`export PATH="${join(source, 'bin')}:$PATH"`, `permanently: npm link in ${source}`] as const;
    printWhole(stepLines([step], screenWidth()).join('\n'));
  }
  return 0;
}

function nextSteps(dir: string): string {
  const here = relative(process.cwd(), dir);
  const steps: [string, string][] = [
    ...(here === '' ? [] : [[`cd ${here.startsWith('..') ? dir : here}`, ''] as [string, string]]),
    ['agentdir agent', 'list your agents; each is a file in templates/'],
    ['agentdir check', 'check all files'],
    ['agentdir start', 'start the daemon; Ctrl-C stops it'],
  ];
  return `\nNext:\n${stepLines(steps, screenWidth()).join('\n')}\n`;
}
