import {spawn} from 'node:child_process';
import {kindOf} from '../formats/common/key.ts';
import {parseSession, type Session} from '../formats/session/session.ts';
import {nodeDisk} from './disk/disk.ts';
import {blobId} from './git/blob-id.ts';
import {fixedOptions, git, gitEnvironment} from './git/git.ts';
import {Cat} from './git/git-cat.ts';
import {headCommit} from './history.ts';
import {listFolder, readHomeFile} from './read.ts';

export type VisitSession = (path: string, session: Session) => void;

export interface PastSessionCounts {
  /** Number of session files. */
  sessions: number;
  /** Commits in HEAD's history. Other branches are not read. */
  commits: number;
  /** Versions with errors. */
  unread: number;
}

/**
 * Visit versions of sessions that together contain every message of any version, on disk or in HEAD's history: the current files, those
 * of HEAD, and each version from which a commit removed message lines. A session that only grew is read once. If a version has errors,
 * the one before it is read too. Throws without a repository.
 */
export async function everySession(
  home: string,
  visit: VisitSession,
  progress: (done: number, total: number) => void = () => {},
): Promise<PastSessionCounts> {
  const paths = new Set<string>();
  const seen = new Set<string>();
  let last: {path: string; session: Session} | undefined;
  let unread = 0;
  const visitVersion = (path: string, text: string): boolean => {
    // Reuse the parse of the previous version, which is often nearly equal.
    const session = parseSession(text, last?.path === path ? last.session : undefined);
    last = {path, session};
    paths.add(path);
    if (session.header) visit(path, session);
    else unread++;
    return session.header !== undefined;
  };
  for (const path of listFolder(nodeDisk(home), 'sessions')) {
    const read = readHomeFile(nodeDisk(home), path);
    if (kindOf(path) !== 'session' || !read) continue;
    if ('text' in read && visitVersion(path, read.text)) seen.add(blobId(read.bytes));
  }
  if (!(await headCommit(home))) return {sessions: paths.size, commits: 0, unread};
  const {lost, before} = await lossyVersions(home);
  const wanted = [...(await versionsOfHead(home)), ...lost];
  const cat = new Cat(home);
  let done = 0;
  try {
    for (let next = wanted.shift(); next; next = wanted.shift()) {
      const {path, blob} = next;
      progress(++done, done + wanted.length);
      if (seen.has(blob)) continue;
      seen.add(blob);
      const body = await cat.body(blob);
      if (body && !visitVersion(path, body.toString('utf8'))) {
        for (const earlier of before.get(blob) ?? []) wanted.push({path, blob: earlier});
      }
    }
  } finally {
    cat.close();
  }
  const commits = Number((await git(home, ['rev-list', '--count', 'HEAD'])).stdout);
  return {sessions: paths.size, commits, unread};
}

interface Version {
  path: string;
  blob: string;
}

async function versionsOfHead(home: string): Promise<Version[]> {
  const listed = await git(home, ['ls-tree', '-r', '-z', 'HEAD', '--', 'sessions/']);
  return listed.stdout.split('\0').flatMap(line => {
    const [, blob, path] = /^\d+ blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    return blob !== undefined && path !== undefined && kindOf(path) === 'session' ? [{path, blob}] : [];
  });
}

/** Lines whose removal loses no message: keys above the messages that the daemon rewrites. */
const harmless = /^-(?:updated|status|created|model|waiting_for|shared|session_id|agent_type): [\w:.+/-]*\r?$/;

const LOG = [
  ...['log', '-m', '--full-history', '--no-follow', '--format=', '--relative', '--patch', '--unified=0'],
  ...['--inter-hunk-context=0', '--full-index', '--irreversible-delete', '--no-renames', '--text', '--no-color'],
  ...['--no-ext-diff', '--no-textconv', '--no-show-signature', '--src-prefix=a/', '--dst-prefix=b/'],
  ...['HEAD', '--', 'sessions'],
];

/** `lost`: versions from which a commit removed lines, newest first. `before`: the previous versions of each version. */
async function lossyVersions(home: string): Promise<{lost: Version[]; before: Map<string, Set<string>>}> {
  const lost: Version[] = [];
  const before = new Map<string, Set<string>>();
  let path = '';
  let old = '';
  /** Remaining lines of the current hunk. */
  let hunk = 0;
  for await (const line of linesOf(home, LOG)) {
    if (hunk > 0) {
      if (line.startsWith('\\')) continue;
      hunk--;
      if (old === '' || !line.startsWith('-') || harmless.test(line)) continue;
      lost.push({path, blob: old});
      old = '';
    } else if (line.startsWith('diff --git ')) {
      // `a/PATH b/PATH`, with equal paths.
      path = line.slice(13, 13 + (line.length - 16) / 2);
      old = '';
    } else if (line.startsWith('index ') && kindOf(path) === 'session') {
      const [, from = '', to = ''] = /^index ([0-9a-f]+)\.\.([0-9a-f]+)/.exec(line) ?? [];
      if (/^0*$/.test(from)) continue;
      if (/^0*$/.test(to)) lost.push({path, blob: from});
      else before.set(to, (before.get(to) ?? new Set()).add(from));
      old = from;
    } else {
      const counts = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
      if (counts) hunk = Number(counts[1] ?? 1) + Number(counts[2] ?? 1);
    }
  }
  return {lost, before};
}

async function* linesOf(home: string, args: readonly string[]): AsyncGenerator<string> {
  const child = spawn('git', [...fixedOptions, ...args], {
    cwd: home,
    env: gitEnvironment(process.env),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  let rest = '';
  child.stdout.setEncoding('utf8');
  for await (const chunk of child.stdout as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if ((await ended) !== 0) throw new Error('git log could not read the history of sessions/');
}
