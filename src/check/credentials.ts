import {type Problem, problem} from '../formats/common/diagnostic.ts';
import {lineStarts, placeAt} from '../formats/common/lines.ts';
import {findCredentials} from '../policy/redact/redact.ts';

const MAX_CREDENTIALS = 100;

/**
 * Report possible credentials in a file; the file itself is not changed. Reads the whole text, so it is meant for `check`,
 * not for each change of a session.
 */
export function credentialProblems(path: string, text: string): Problem[] {
  const hits = findCredentials(text).slice(0, MAX_CREDENTIALS);
  if (hits.length === 0) return [];
  const starts = lineStarts(text);
  return hits.map(({start, label}) =>
    problem(
      'SECRET_IN_FILE',
      placeAt(starts, start),
      `expected no credentials in files, found a possible one (${label})`,
      'remove it and revoke it at its issuer: git history still contains it',
      path,
    ),
  );
}
