import {isUtf8} from 'node:buffer';
import {blocks} from '../files/diagnostic.ts';
import type {Kind} from '../files/key.ts';
import type {HomeFiles} from './home-files.ts';
import {lastBlob, setFacts, textOf} from './state.ts';

/** What these say decides what agents may do and use. */
const kinds: ReadonlySet<Kind | null> = new Set<Kind>(['settings', 'policy', 'template', 'playbook']);
const VERSIONS = 50;

/**
 * At the start: of a file with errors, what it said before holds. This daemon never knew it, so it is looked for in the
 * journal.
 */
export async function findLastGood(files: HomeFiles): Promise<void> {
  const {index, known} = files;
  const {factsOf} = await import('../check/read-facts.ts');
  for (const path of [...index.paths()]) {
    const facts = index.facts(path);
    const file = known.get(path);
    if (!facts || !kinds.has(facts.kind) || !blocks(facts.problems) || !file || file.good !== undefined) continue;
    file.good = await goodVersion(files, path);
    const text = file.good === undefined ? undefined : await textOf(files, file.good);
    const {limits} = text === undefined ? {} : factsOf(path, text);
    if (limits) setFacts(files, path, {...facts, limits});
  }
}

/**
 * What was known last; if that had errors, and this daemon does not know what the file said before, the newest version in the journal that has none.
 * `now`: what it says, without errors.
 */
export async function lastGood(files: HomeFiles, path: string, now: string): Promise<string | undefined> {
  const {good} = files.known.get(path) ?? {};
  const last = good ?? lastBlob(files, path);
  if (last === good || last === now || last === undefined || (await isGood(files, path, last))) return last;
  return (await goodVersion(files, path)) ?? last;
}

async function goodVersion(files: HomeFiles, path: string): Promise<string | undefined> {
  for (const {blob} of await files.journal.allVersions(path, VERSIONS))
    if (await isGood(files, path, blob)) return blob;
  return undefined;
}

async function isGood(files: HomeFiles, path: string, blob: string): Promise<boolean> {
  const {factsOf} = await import('../check/read-facts.ts');
  const [text, bytes] = [await textOf(files, blob), await files.journal.read(blob)];
  if (text === undefined || (bytes && !isUtf8(bytes))) return false;
  return !blocks(factsOf(path, text).problems);
}
