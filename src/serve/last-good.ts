import {isUtf8} from 'node:buffer';
import {blocks} from '../files/diagnostic.ts';
import type {Kind} from '../files/key.ts';
import type {Serving} from './serving.ts';
import {lastBlob, setFacts, textOf} from './state.ts';

/** What these say decides what agents may do and use. */
const kinds: ReadonlySet<Kind | null> = new Set<Kind>(['settings', 'policy', 'template', 'playbook']);
const VERSIONS = 50;

/**
 * At the start: of a file with errors, what it said before holds. This daemon never knew it, so it is looked for in the
 * journal.
 */
export async function findLastGood(serving: Serving): Promise<void> {
  const {index, known} = serving;
  const {factsOf} = await import('../check/read-facts.ts');
  for (const path of [...index.paths()]) {
    const facts = index.facts(path);
    const file = known.get(path);
    if (!facts || !kinds.has(facts.kind) || !blocks(facts.problems) || !file || file.good !== undefined) continue;
    file.good = await goodVersion(serving, path);
    const text = file.good === undefined ? undefined : await textOf(serving, file.good);
    const {limits} = text === undefined ? {} : factsOf(path, text);
    if (limits) setFacts(serving, path, {...facts, limits});
  }
}

/**
 * What was known last; if that had errors, and this daemon does not know what the file said before, the newest version in the journal that has none.
 * `now`: what it says, without errors.
 */
export async function lastGood(serving: Serving, path: string, now: string): Promise<string | undefined> {
  const {good} = serving.known.get(path) ?? {};
  const last = good ?? lastBlob(serving, path);
  if (last === good || last === now || last === undefined || (await isGood(serving, path, last))) return last;
  return (await goodVersion(serving, path)) ?? last;
}

async function goodVersion(serving: Serving, path: string): Promise<string | undefined> {
  for (const {blob} of await serving.journal.allVersions(path, VERSIONS))
    if (await isGood(serving, path, blob)) return blob;
  return undefined;
}

async function isGood(serving: Serving, path: string, blob: string): Promise<boolean> {
  const {factsOf} = await import('../check/read-facts.ts');
  const [text, bytes] = [await textOf(serving, blob), await serving.journal.read(blob)];
  if (text === undefined || (bytes && !isUtf8(bytes))) return false;
  return !blocks(factsOf(path, text).problems);
}
