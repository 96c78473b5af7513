import {existsSync} from 'node:fs';
import {delimiter, join, relative, resolve} from 'node:path';
import {createHome} from '../../store/create.ts';
import {colors, plural, print, printJson, printWhole} from './output.ts';

/** A new home, asked nothing, nothing overwritten. */
export async function init({dir, source, json}: {dir: string; source: string; json: boolean}): Promise<number> {
  const created = await createHome(resolve(dir), source);
  if (json) {
    printJson(created);
    return 0;
  }
  const already = created.made.length === 0;
  print(
    already
      ? `${created.dir} is a home already; nothing to add`
      : `${colors.green('✓')} ${created.left.length > 0 ? 'Completed the' : 'New'} home in ${colors.bold(created.dir)} (${plural(created.made.length, 'file')}${created.commit ? `, commit ${created.commit}` : ''})`,
  );
  if (created.left.length > 0 && !already)
    print(
      `  left as they were: ${created.left.slice(0, 6).join(', ')}${created.left.length > 6 ? ` and ${created.left.length - 6} more` : ''}`,
    );
  print(nextSteps(created.dir));
  if (!isOnPath(process.env.PATH ?? ''))
    print(
      `\nThe command agentdir is not on your PATH yet: ${colors.cyan(`export PATH="${join(source, 'bin')}:$PATH"`)}; for good: ${colors.cyan('npm link')} in ${source}`,
    );
  return 0;
}

/** What npx and npm scripts add to PATH for a moment does not count. */
export function isOnPath(path: string): boolean {
  const lasting = path
    .split(delimiter)
    .filter(folder => folder !== '' && !/[/\\](?:_npx|node_modules)[/\\]/.test(folder));
  return lasting.some(folder => existsSync(join(folder, 'agentdir')));
}

function nextSteps(dir: string): string {
  const here = relative(process.cwd(), dir);
  const steps: [string, string][] = [
    ...(here === '' ? [] : [[`cd ${here.startsWith('..') ? dir : here}`, ''] as [string, string]]),
    ['agentdir agent', 'the agents you have; each is a file in templates/'],
    ['agentdir check', 'is every file right?'],
    ['agentdir start', 'keep it moving; Ctrl-C stops it'],
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  const lines = steps.map(([command, why]) =>
    `  ${colors.cyan(command.padEnd(width))}${why ? `   ${colors.dim(why)}` : ''}`.trimEnd(),
  );
  return `\nNext:\n${lines.join('\n')}\n\nEverything is a file: edit templates/, tasks/ and allowlist.yaml with your own editor, and see git log for what happened.`;
}
