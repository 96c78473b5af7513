import {existsSync, realpathSync, statSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {exit, UserError} from '../formats/common/errors.ts';

export const MARKER = 'agentdir.yaml';

/** The home: `given`, else AGENTDIR_HOME, else the nearest parent of `from` with agentdir.yaml. Absolute, links resolved. */
export function locateHome(given: string | undefined, from: string, environment: NodeJS.ProcessEnv): string {
  const named = given ?? (environment.AGENTDIR_HOME || undefined);
  if (named !== undefined) {
    const path = resolve(from, named);
    if (existsSync(join(path, MARKER))) return realpathSync(path);
    const what = existsSync(path)
      ? statSync(path).isDirectory()
        ? `has no ${MARKER}`
        : 'is not a directory'
      : 'does not exist';
    throw new UserError(`${named} ${what}`, exit.usage, `to make it a home: agentdir init ${named}`);
  }
  for (let path = resolve(from); ; path = dirname(path)) {
    if (existsSync(join(path, MARKER))) return realpathSync(path);
    if (path === dirname(path)) break;
  }
  throw new UserError(
    `no home here: no ${MARKER} in ${from} or above`,
    exit.usage,
    'go to a home, name one with --home DIR, or make one: agentdir init DIR',
  );
}
