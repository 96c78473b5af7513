import {blocks} from '../files/diagnostic.ts';
import type {Kind} from '../files/key.ts';
import type {Serving} from './serving.ts';
import {setFacts, textOf} from './state.ts';

/** What these say decides what agents may do and use. */
const kinds: ReadonlySet<Kind | null> = new Set<Kind>(['settings', 'policy', 'template', 'playbook']);
const VERSIONS = 50;

/**
 * At the start: of a file with errors, what it said before holds. This daemon never knew it, so it is looked for in the
 * journal.
 */
export async function findLastGood(serving: Serving): Promise<void> {
  const {index, known, journal} = serving;
  for (const path of [...index.paths()]) {
    const facts = index.facts(path);
    if (!facts || !kinds.has(facts.kind) || !blocks(facts.problems)) continue;
    const file = known.get(path);
    if (!file || file.good !== undefined) continue;
    const {factsOf} = await import('../check/read-facts.ts');
    for (const {blob} of await journal.allVersions(path, VERSIONS)) {
      const text = await textOf(serving, blob);
      const then = text === undefined ? undefined : factsOf(path, text);
      if (!then || blocks(then.problems)) continue;
      file.good = blob;
      if (then.limits) setFacts(serving, path, {...facts, limits: then.limits});
      break;
    }
  }
}
