import {parseFile} from '../../check/parse-file.ts';
import type {Session} from '../../formats/session/session.ts';
import {versionText} from '../../loop/accept-version.ts';
import type {HomeFiles} from '../../loop/home-files.ts';

/** The last accepted version of a session. Undefined: there is none, or it has errors. */
export async function acceptedSession(files: HomeFiles, path: string): Promise<Session | undefined> {
  let parsed = files.caches.snapshots.get(path)?.parsed;
  if (parsed?.kind !== 'session') {
    const blob = files.known.get(path)?.blob;
    const text = blob === undefined ? undefined : await versionText(files, blob, path);
    parsed = text === undefined ? undefined : parseFile(path, text);
  }
  return parsed?.kind === 'session' ? parsed.file : undefined;
}
