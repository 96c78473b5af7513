import {isUtf8} from 'node:buffer';
import {blocks} from '../formats/common/diagnostic.ts';
import type {Kind} from '../formats/common/key.ts';
import {lastBlob, setFacts, versionText} from './accept-version.ts';
import type {HomeFiles} from './home-files.ts';
import {pastVersions} from './past-versions.ts';

/** Kinds of files that decide what agents may do and use. */
const kinds: ReadonlySet<Kind | null> = new Set<Kind>(['settings', 'policy', 'template', 'playbook']);
/** How many versions to search. */
const VERSIONS = 50;

/** At the start: find the last version without errors of each configuration file that has errors now. It stays in force. */
export async function findLastGood(files: HomeFiles): Promise<void> {
  const {index, known} = files;
  const {factsOf} = await import('../check/read-facts.ts');
  for (const path of [...index.paths()]) {
    const facts = index.facts(path);
    const file = known.get(path);
    if (!facts || !kinds.has(facts.kind) || !blocks(facts.problems) || !file || file.good !== undefined) continue;
    file.good = await goodVersion(files, path);
    const text = file.good === undefined ? undefined : await versionText(files, file.good, path);
    const {limits} = text === undefined ? {} : factsOf(path, text);
    if (limits) setFacts(files, path, {...facts, limits});
  }
}

/**
 * The last good version of a file. If this daemon accepted none and the last accepted version has errors, the newest past version
 * without errors. `now`: the current version, which has no errors.
 */
export async function lastGood(files: HomeFiles, path: string, now: string): Promise<string | undefined> {
  const {good} = files.known.get(path) ?? {};
  const last = good ?? lastBlob(files, path);
  if (last === good || last === now || last === undefined || (await isGood(files, path, last))) return last;
  return (await goodVersion(files, path)) ?? last;
}

async function goodVersion(files: HomeFiles, path: string): Promise<string | undefined> {
  let count = 0;
  for await (const {blob, isStale} of pastVersions(files, path, {ever: true})) {
    if (!isStale && (await isGood(files, path, blob))) return blob;
    if (++count === VERSIONS) break;
  }
  return undefined;
}

async function isGood(files: HomeFiles, path: string, blob: string): Promise<boolean> {
  const {factsOf} = await import('../check/read-facts.ts');
  const bytes = files.versions.read(path, blob) ?? (await files.journal.read(blob));
  const text = await versionText(files, blob, path);
  if (text === undefined || (bytes && !isUtf8(bytes))) return false;
  return !blocks(factsOf(path, text).problems);
}
