import {isSegment, kindOf, stemOf} from '../formats/common/key.ts';
import {git} from './git/git.ts';
import type {SessionFile} from './session-files.ts';

/** A session file in a commit. */
export interface PastSession extends SessionFile {
  commit: string;
}

/** The sessions in a commit. */
export async function sessionsAt(home: string, commit: string): Promise<PastSession[]> {
  const listed = await git(home, ['ls-tree', '-r', '-z', '--name-only', commit, '--', 'sessions/']);
  return listed.stdout.split('\0').flatMap(path => sessionAt(path, commit));
}

/** Sessions in HEAD's history that were removed, each in its last version. */
export async function removedSessions(home: string): Promise<PastSession[]> {
  const log = await git(home, [
    ...['log', '-z', '--relative', '--no-renames', '--diff-filter=D', '--name-only', '--format=%x01%P%x00'],
    ...['HEAD', '--', 'sessions/'],
  ]);
  const found = new Map<string, PastSession>();
  for (const part of log.stdout.split('\x01').slice(1)) {
    const [parents = '', ...paths] = part.split('\0');
    const [commit = ''] = parents.split(' ');
    for (const path of paths)
      for (const past of sessionAt(path.replace(/^\n/, ''), commit)) if (!found.has(past.id)) found.set(past.id, past);
  }
  return [...found.values()];
}

function sessionAt(path: string, commit: string): PastSession[] {
  return kindOf(path) === 'session' && !isSegment(path) ? [{id: stemOf(path), path, commit}] : [];
}

/** The last commit in HEAD's history that changed a file, if HEAD's version of the file is `blob`. */
export async function lastChange(home: string, path: string, blob: string): Promise<string | undefined> {
  const [head, log] = await Promise.all([
    git(home, ['rev-parse', '--verify', '--quiet', `HEAD:./${path}`]),
    git(home, ['log', '-1', '--format=%H', 'HEAD', '--', path]),
  ]);
  return head.stdout.trim() === blob ? log.stdout.trim() || undefined : undefined;
}

/** The last text of a file in HEAD's history. The file may have been removed since. */
export async function lastText(home: string, path: string): Promise<string | undefined> {
  const log = await git(home, ['log', '-1', '--format=%H', '--diff-filter=AM', 'HEAD', '--', path]);
  const commit = log.stdout.trim();
  return commit === '' ? undefined : textAtCommit(home, commit, path);
}

/** Undefined: the commit has no such file. */
export async function textAtCommit(home: string, commit: string, path: string): Promise<string | undefined> {
  const shown = await git(home, ['cat-file', 'blob', `${commit}:./${path}`]);
  return shown.code === 0 ? shown.stdout : undefined;
}
