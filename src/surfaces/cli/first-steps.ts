import {existsSync, realpathSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {isOnPath} from './init.ts';
import {colors} from './output.ts';

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
  const width = Math.max(...steps.map(([command, why]) => (why === '' ? 0 : command.length)));
  const lines = steps.map(([command, why]) =>
    `  ${colors.cyan(command.padEnd(width))}${why ? `   ${colors.dim(why)}` : ''}`.trimEnd(),
  );
  const own = `
This is Agentdir’s own source, and commits go to the branch you are on. To work on the source, keep
your agents elsewhere: ${colors.cyan('agentdir init ~/agents')}`;
  return `
What allowlist.yaml does not allow waits for your yes, in a file. Nothing is committed until something
happens.${isSource && existsSync(join(home, 'src')) ? own : ''}

Try, in a second terminal:
${lines.join('\n')}
`;
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
