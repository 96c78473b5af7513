import {existsSync, realpathSync, writeFileSync} from 'node:fs';
import {delimiter, dirname, join} from 'node:path';
import {colors, screenWidth} from '../terminal/output.ts';
import {wrap} from '../terminal/wrap.ts';

export interface StartingPoint {
  home: string;
  /** The folder of the package that runs. */
  source: string;
  isOnPath: boolean;
  editor: string;
}

export function startingPoint(home: string, env: NodeJS.ProcessEnv = process.env): StartingPoint {
  const editor = env.VISUAL || env.EDITOR || 'vi';
  return {home: real(home), source: packageOf(process.argv[1] ?? ''), isOnPath: isOnPath(env.PATH ?? ''), editor};
}

const SHOWN = '.agentdir/first-steps-shown';

/** Whether the first steps have not been shown in this home. From now on they have. */
export function isFirstTime(home: string): boolean {
  const path = join(home, SHOWN);
  if (existsSync(path)) return false;
  try {
    writeFileSync(path, '');
  } catch {
    // A full disk: show them again.
  }
  return true;
}

/** Suggests commands for a second terminal. */
export function firstSteps({home, source, isOnPath, editor}: StartingPoint): string {
  const isSource = home === source;
  const path = isOnPath
    ? ''
    : `; export PATH=${isSource ? '"$PWD/bin:$PATH"' : `${quoted(join(source, 'bin'))}:"$PATH"`}`;
  const steps: [string, string][] = [
    [`cd ${quoted(home)}${path}`, ''],
    ['agentdir send "hello" --wait', 'ask the default agent'],
    ['agentdir send "show me an approval" --to executor-001', 'an agent asks to run a command'],
    [`${editor} tasks/approvals.task.md`, 'change [_] to [x] and save: the command runs, once'],
    [`echo '{"text": "hello", "from": "boss"}' >> inbox/try.jsonl`, 'a message from outside'],
    ['git log --format="%an: %s" -9', 'what happened, and who did it'],
  ];
  const own = isSource && existsSync(join(home, 'src'));
  const columns = Math.min(screenWidth(), PROSE);
  const prose = [SAFE, ...(own ? [OWN] : [])].map(text => wrap(text, columns));
  return `\n${prose.join('\n')}\n\nTry, in a second terminal:\n${stepLines(steps, screenWidth()).join('\n')}\n`;
}

const PROSE = 100;
const SAFE = "Anything allowlist.yaml doesn't allow waits in a file for your approval. Starting commits nothing.";
const OWN =
  'This is Agentdir’s own source: the daemon commits to your current branch. To work on the source, create a separate home: agentdir init ~/agents';

/** Puts explanations on separate lines, so that command lines can be pasted. */
export function stepLines(steps: readonly (readonly [command: string, why: string])[], screen: number): string[] {
  return steps.flatMap(([command, why]) => [
    `  ${colors.cyan(command)}`,
    ...(why === '' ? [] : [colors.dim(wrap(`      ${why}`, screen, 6))]),
  ]);
}

/** Ignores PATH entries by npx and npm scripts. */
export function isOnPath(path: string): boolean {
  const lasting = path
    .split(delimiter)
    .filter(folder => folder !== '' && !/[/\\](?:_npx|node_modules)[/\\]/.test(folder));
  return lasting.some(folder => existsSync(join(folder, 'agentdir')));
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
