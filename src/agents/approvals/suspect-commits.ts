import {versionText} from '../../loop/accept-version.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {isProtected, PROTECTED_FILES} from './protected-files.ts';

const MAX_VERSIONS_READ = 50;

/**
 * Protected files that somebody other than the daemon committed since an interrupted unsandboxed command `started`, each
 * with its blob before that commit. Everything was in the journal before the command began.
 */
export async function committedSince(
  files: HomeFiles,
  started: string,
  session: string,
): Promise<ReadonlyMap<string, string | undefined>> {
  const {journal} = files;
  const found = new Map<string, string | undefined>();
  const began = await commitOfStart(files, started, session);
  const since = began === undefined ? undefined : await journal.since(began);
  if (!since || ![...since.values()].some(cause => cause === undefined)) return found;
  for (const path of new Set([...PROTECTED_FILES, ...[...journal.committed.keys()].filter(isProtected)])) {
    const versions = await journal.versions(path, MAX_VERSIONS_READ);
    const foreign = versions.findLast(({commit, cause}) => cause === undefined && since.has(commit));
    if (foreign) found.set(path, await journal.before(foreign.commit, path));
  }
  return found;
}

/** The commit that marked the call as started at this time. */
async function commitOfStart(files: HomeFiles, started: string, session: string): Promise<string | undefined> {
  let commit: string | undefined;
  for (const version of await files.journal.versions(session, MAX_VERSIONS_READ)) {
    if (!(await versionText(files, version.blob, session))?.includes(started)) break;
    commit = version.commit;
  }
  return commit;
}
