import {resolve} from 'node:path';
import {exit, UserError} from '../../formats/common/errors.ts';
import {git} from './git.ts';
import {Cat} from './git-cat.ts';
import {ConfigReader} from './git-config.ts';
import {Filters} from './git-filters.ts';
import {type ObjectFormat, Objects} from './git-objects.ts';
import {GitProcesses} from './git-processes.ts';
import type {GitDirs} from './git-refs.ts';

/** The repository of a home, with readers and writers of its parts. */
export interface Repository {
  home: string;
  top: string;
  /** The path of the home in the repository: '' or `deep/home/`. */
  prefix: string;
  dirs: GitDirs;
  format: ObjectFormat;
  objects: Objects;
  cat: Cat;
  config: ConfigReader;
  filters: Filters;
  processes: GitProcesses;
}

export async function openRepository(home: string): Promise<Repository> {
  const found = await git(home, [
    'rev-parse',
    '--show-object-format',
    '--absolute-git-dir',
    '--git-common-dir',
    '--show-toplevel',
    '--show-prefix',
  ]);
  if (found.code !== 0) throw noRepository(home, found.stderr);
  const [format, own = '', common = '', top = '', prefix = ''] = found.stdout.split('\n');
  const dirs: GitDirs = {own, common: resolve(home, common)};
  const known: ObjectFormat = format === 'sha256' ? 'sha256' : 'sha1';
  return {
    home,
    top,
    prefix,
    dirs,
    format: known,
    objects: new Objects(`${dirs.common}/objects`, known),
    cat: new Cat(top),
    config: new ConfigReader(home, top, dirs),
    filters: new Filters(top, dirs),
    processes: new GitProcesses(dirs, top),
  };
}

/** `stderr`: git's error message. */
export function noRepository(home: string, stderr: string): UserError {
  return new UserError(
    `${home} is not in a git repository`,
    exit.failed,
    /dubious ownership/.test(stderr)
      ? `it belongs to another user; if you trust it: git config --global --add safe.directory ${home}`
      : 'make one: agentdir init .',
  );
}

/** The body of a loose or packed object. Throws if it is missing: then the repository is damaged. */
export async function mustRead({objects, cat}: Pick<Repository, 'objects' | 'cat'>, id: string): Promise<Buffer> {
  const body = objects.read(id) ?? (await cat.body(id));
  if (!body) throw new UserError(`object ${id} is missing`, exit.failed, 'to check the repository: git fsck');
  return body;
}
