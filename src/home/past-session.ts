import {isSegment, kindOf, stemOf} from '../formats/common/key.ts';
import {git} from './git/git.ts';
import type {SessionFile} from './session-files.ts';

/** A session file as a commit has it. */
export interface PastSession extends SessionFile {
  commit: string;
}

/** Sessions that a commit has. */
export async function sessionsAt(home: string, commit: string): Promise<PastSession[]> {
  const listed = await git(home, ['ls-tree', '-r', '-z', '--name-only', commit, '--', 'sessions/']);
  return listed.stdout.split('\0').flatMap(path => sessionAt(path, commit));
}

/** Sessions that are in HEAD's history and were removed: each as it was last. */
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

/** The last commit of HEAD's history that changed a file, if that is what `blob` names. */
export async function lastChange(home: string, path: string, blob: string): Promise<string | undefined> {
  const [head, log] = await Promise.all([
    git(home, ['rev-parse', '--verify', '--quiet', `HEAD:./${path}`]),
    git(home, ['log', '-1', '--format=%H', 'HEAD', '--', path]),
  ]);
  return head.stdout.trim() === blob ? log.stdout.trim() || undefined : undefined;
}

/** The last text that HEAD's history has of a file that may be gone. */
export async function lastText(home: string, path: string): Promise<string | undefined> {
  const log = await git(home, ['log', '-1', '--format=%H', '--diff-filter=AM', 'HEAD', '--', path]);
  const commit = log.stdout.trim();
  return commit === '' ? undefined : textAtCommit(home, commit, path);
}

/** Undefined: the commit does not have it. */
export async function textAtCommit(home: string, commit: string, path: string): Promise<string | undefined> {
  const shown = await git(home, ['cat-file', 'blob', `${commit}:./${path}`]);
  return shown.code === 0 ? shown.stdout : undefined;
}
