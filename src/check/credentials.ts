import {type Problem, problem} from '../formats/common/diagnostic.ts';
import {lineStarts, placeAt} from '../formats/common/lines.ts';
import {findCredentials} from '../policy/redact/redact.ts';

/** Nobody reads more of one file. */
const MAX_CREDENTIALS = 100;

/**
 * What looks like a credential in a file. A person's file stays as it is, so they are told. Reads all of the text: for
 * `check`, not for each change of a session.
 */
export function credentialProblems(path: string, text: string): Problem[] {
  const hits = findCredentials(text).slice(0, MAX_CREDENTIALS);
  if (hits.length === 0) return [];
  const starts = lineStarts(text);
  return hits.map(({start, label}) =>
    problem(
      'SECRET_IN_FILE',
      placeAt(starts, start),
      `expected no credentials in files, found what looks like one (${label})`,
      'take it out, and have it replaced where it was issued: what was saved is in the history of git',
      path,
    ),
  );
}
