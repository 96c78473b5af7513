import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {listSessions} from '../src/home/session-files.ts';
import {agentdir} from './cli/run.ts';

/** Homes whose history a test has made up, or in which it changes what was recorded. */
const madeUp = new Set<string>();

/** This home has a history that nobody could replay; the test says why. */
export function isMadeUp(home: string): string {
  madeUp.add(home);
  return home;
}

/** Every session of a home that a test leaves behind is, replayed, what it was. */
export async function expectReplayed(home: string): Promise<void> {
  if (madeUp.has(home) || !existsSync(join(home, '.git')) || listSessions(home).length === 0) return;
  const {stdout, stderr} = await agentdir(home, ['replay', '--all', '--policy', 'then', '--json']);
  if (stdout === '') throw new Error(`no replay of ${home}: ${stderr}`);
  const {sessions} = JSON.parse(stdout) as {sessions: {session: string; differences: object[]}[]};
  const different = sessions.flatMap(({session, differences}) =>
    differences[0] ? [{session, ...differences[0]}] : [],
  );
  if (different.length > 0) throw new Error(`a replay differs: ${JSON.stringify(different, null, 1)}`);
}
