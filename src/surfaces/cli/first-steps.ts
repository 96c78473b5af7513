import {existsSync, realpathSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {isOnPath} from './init.ts';
import {colors, screenWidth} from './output.ts';
import {breakAt} from './table.ts';

export interface Place {
  home: string;
  /** The folder of the package that runs. */
  source: string;
  isOnPath: boolean;
  editor: string;
}

/** Where a person is who has just started a daemon. */
export function placeOf(home: string, env: NodeJS.ProcessEnv = process.env): Place {
  const editor = env.VISUAL || env.EDITOR || 'vi';
  return {home: real(home), source: packageOf(process.argv[1] ?? ''), isOnPath: isOnPath(env.PATH ?? ''), editor};
}

/** What to type next, in a second terminal: each line can be pasted. */
export function firstSteps({home, source, isOnPath, editor}: Place): string {
  const isSource = home === source;
  const path = isOnPath
    ? ''
    : `; export PATH=${isSource ? '"$PWD/bin:$PATH"' : `${quoted(join(source, 'bin'))}:"$PATH"`}`;
  const steps: [string, string][] = [
    [`cd ${quoted(home)}${path}`, ''],
    ['agentdir send "hello" --wait', 'an answer, and what else you can try'],
    ['agentdir send "show me an approval" --to executor-001', 'an agent wants to run a command, and waits'],
    [`${editor} tasks/approvals.task.md`, 'make [_] an [x] and save: it runs, once'],
    [`echo '{"text": "hello", "from": "boss"}' >> inbox/try.jsonl`, 'a message from outside'],
    ['git log --format="%an: %s" -9', 'all that happened, and who did it'],
  ];
  const own = isSource && existsSync(join(home, 'src'));
  const columns = Math.min(screenWidth(), PROSE);
  const prose = [SAFE, ...(own ? [OWN] : [])].flatMap(text => breakAt(text, columns, true).map(line => line.trimEnd()));
  return `\n${prose.join('\n')}\n\nTry, in a second terminal:\n${beside(steps, screenWidth()).join('\n')}\n`;
}

const PROSE = 100;
const SAFE =
  'What allowlist.yaml does not allow waits for your yes, in a file. Nothing is committed until something happens.';
const OWN =
  'This is Agentdir’s own source, and commits go to the branch you are on. To work on the source, keep your agents elsewhere: agentdir init ~/agents';

/** What each is for stands beside it, or above it where the screen is too narrow for that: a comment, so that whole lines can be pasted. */
export function beside(steps: readonly (readonly [command: string, why: string])[], screen: number): string[] {
  const width = Math.max(...steps.map(([command, why]) => (why === '' ? 0 : command.length)));
  const fits = steps.every(([, why]) => why === '' || 2 + width + 3 + 2 + why.length <= screen);
  return steps.flatMap(([command, why]) => {
    if (why === '') return [`  ${colors.cyan(command)}`];
    if (fits) return [`  ${colors.cyan(command.padEnd(width))}   ${colors.dim(`# ${why}`)}`];
    return [`  ${colors.dim(`# ${why}`)}`, `  ${colors.cyan(command)}`];
  });
}

function packageOf(program: string): string {
  return dirname(dirname(real(program)));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
