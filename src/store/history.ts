import {spawn} from 'node:child_process';
import {fixedOptions, git, gitEnvironment} from './git.ts';

/** One state change, as the journal has it. */
export interface Change {
  commit: string;
  author: string;
  /** ISO 8601. */
  time: string;
  subject: string;
  /** Agent, Session, Task, Call, Approval, Cause, Model, Tokens: as far as they were given; several of one in order. */
  trailers: [key: string, value: string][];
  paths: string[];
}

const FORMAT = '%x1e%H%x1f%an%x1f%aI%x1f%s%x1f%(trailers:only,unfold)%x1f';

/** Changes reachable from `range`, newest first, read as they are asked for. */
export async function* history(home: string, range: readonly string[] = ['HEAD']): AsyncGenerator<Change> {
  const args = [
    'log',
    '--no-color',
    '--no-decorate',
    '--name-only',
    '--relative',
    `--format=${FORMAT}`,
    ...range,
    '--',
    '.',
  ];
  const child = spawn('git', [...fixedOptions, ...args], {
    cwd: home,
    env: gitEnvironment(process.env),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let rest = '';
  try {
    child.stdout.setEncoding('utf8');
    for await (const chunk of child.stdout as AsyncIterable<string>) {
      const records = (rest + chunk).split('\x1e');
      rest = records.pop() ?? '';
      for (const record of records) if (record !== '') yield parse(record);
    }
    if (rest.trim() !== '') yield parse(rest);
  } finally {
    child.kill();
  }
}

export async function headOf(home: string): Promise<string | undefined> {
  const found = await git(home, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  return found.code === 0 ? found.stdout.trim() : undefined;
}

function parse(record: string): Change {
  const [commit = '', author = '', time = '', subject = '', trailers = '', paths = ''] = record.split('\x1f');
  return {
    commit,
    author,
    time,
    subject,
    trailers: trailers.split('\n').flatMap(line => {
      const at = line.indexOf(': ');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 2)] as [string, string]] : [];
    }),
    paths: paths.split('\n').filter(Boolean),
  };
}
