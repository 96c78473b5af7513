import {stemOf} from '../formats/common/key.ts';
import {parseSession, type Session} from '../formats/session/session.ts';
import {git} from './git/git.ts';
import {Cat} from './git/git-cat.ts';

const LOG = [
  ...['log', '--all', '--reflog', '--full-history', '-m', '--no-renames', '--raw', '--no-abbrev', '--format='],
  ...['--no-color', '--no-ext-diff', '--no-textconv', '--no-show-signature', '--text', '-G^ +started: '],
];

/**
 * Versions of a session before and after each commit that added or removed a `started` mark of a call, including commits that only a
 * reflog still has.
 */
export async function versionsWithStarts(home: string, path: string): Promise<Session[]> {
  const name = stemOf(path).replace(/[\\*?[\]]/g, '\\$&');
  const log = await git(home, [...LOG, '--', `:(glob)sessions/**/${name}.session.yaml`], {patterns: true});
  const blobs = new Set<string>();
  for (const [, from = '', to = ''] of log.stdout.matchAll(/^:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) /gm))
    for (const blob of [from, to]) if (!/^0+$/.test(blob)) blobs.add(blob);
  const cat = new Cat(home);
  try {
    const sessions: Session[] = [];
    for (const blob of blobs) {
      const body = await cat.body(blob);
      if (body) sessions.push(parseSession(body.toString('utf8')));
    }
    return sessions;
  } finally {
    cat.close();
  }
}
