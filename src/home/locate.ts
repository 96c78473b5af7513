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
    const shown = given === undefined ? `AGENTDIR_HOME is ${named}, which` : named;
    throw new UserError(`${shown} ${what}`, exit.usage, `to make it a home: agentdir init ${named}`);
  }
  const around = homeAround(from);
  if (around !== undefined) return around;
  throw new UserError(
    `no home here: no ${MARKER} in ${from} or above`,
    exit.usage,
    'go to a home, name one with --home DIR, or make one: agentdir init DIR',
  );
}

/** The home that a folder is in, if AGENTDIR_HOME overrides it with another one. */
export function overriddenHome(from: string, {AGENTDIR_HOME}: NodeJS.ProcessEnv): string | undefined {
  const around = AGENTDIR_HOME ? homeAround(from) : undefined;
  return around === locateHome(undefined, from, {AGENTDIR_HOME}) ? undefined : around;
}

/** The nearest parent of a folder, or the folder itself, that is a home. Links resolved. */
function homeAround(from: string): string | undefined {
  for (let path = resolve(from); ; path = dirname(path)) {
    if (existsSync(join(path, MARKER))) return realpathSync(path);
    if (path === dirname(path)) return undefined;
  }
}

/** Whether git finds a repository from this folder, as far as files tell: it looks above, but not on another file system. */
export function isInRepository(dir: string): boolean {
  const {dev} = statSync(dir);
  for (let path = realpathSync(dir); statSync(path).dev === dev; path = dirname(path)) {
    const found = statSync(join(path, '.git'), {throwIfNoEntry: false});
    if (found?.isFile() || existsSync(join(path, '.git/HEAD'))) return true;
    if (path === dirname(path)) return false;
  }
  return false;
}

/** The home that an earlier run of a workflow instance made outside any home, in this folder or above. */
export function homeOfInstance(from: string, instance: string): string | undefined {
  for (let path = resolve(from); ; path = dirname(path)) {
    const home = join(path, '.workflow', instance);
    if (existsSync(join(home, MARKER))) return realpathSync(home);
    if (path === dirname(path)) return undefined;
  }
}
