import {statSync} from 'node:fs';
import {homedir} from 'node:os';
import {join, resolve} from 'node:path';
import {git, loginName} from './git.ts';
import type {GitDirs} from './git-refs.ts';

export interface Person {
  name: string;
  email: string;
}

/** The parts of the person's git configuration that the daemon's commits depend on. */
export interface GitConfig {
  author: Person;
  committer: Person;
  fileMode: boolean;
  symlinks: boolean;
  /** Git may convert line ends without an attribute. */
  autocrlf: boolean;
  attributesFile: string;
  excludesFile: string;
  /** Create missing reflogs. */
  createReflogs: boolean;
  refStorage: string;
}

/** Reads the configuration, and reads it again when one of its files has changed. */
export class ConfigReader {
  readonly #dir: string;
  readonly #top: string;
  readonly #dirs: GitDirs;
  #files: string[];
  #stamp = '';
  #known: GitConfig | undefined;

  constructor(dir: string, top: string, dirs: GitDirs) {
    this.#dir = dir;
    this.#top = top;
    this.#dirs = dirs;
    this.#files = this.#usual();
  }

  async current(): Promise<GitConfig> {
    const stamp = this.#look();
    if (this.#known && stamp === this.#stamp) return this.#known;
    const [list, author, committer] = await Promise.all([
      git(this.#dir, ['config', '--list', '-z', '--show-origin']),
      git(this.#dir, ['var', 'GIT_AUTHOR_IDENT']),
      git(this.#dir, ['var', 'GIT_COMMITTER_IDENT']),
    ]);
    const values = new Map<string, string>();
    const files = new Set(this.#usual());
    const fields = list.stdout.split('\0');
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const origin = fields[i] ?? '';
      if (origin.startsWith('file:')) files.add(resolve(this.#top, origin.slice(5)));
      const [key = '', ...value] = (fields[i + 1] ?? '').split('\n');
      values.set(key, value.length > 0 ? value.join('\n') : 'true');
    }
    this.#files = [...files];
    this.#stamp = this.#look();
    const on = (key: string, otherwise: boolean) =>
      values.has(key) ? /^(?:true|yes|on|[1-9]\d*|always)$/i.test(values.get(key) ?? '') : otherwise;
    const autocrlf = values.get('core.autocrlf') ?? '';
    this.#known = {
      author: personOf(author.code === 0 ? author.stdout : ''),
      committer: personOf(committer.code === 0 ? committer.stdout : ''),
      fileMode: on('core.filemode', true),
      symlinks: on('core.symlinks', true),
      autocrlf: autocrlf === 'input' || on('core.autocrlf', false),
      attributesFile: fromHome(values.get('core.attributesfile') ?? join(configHome(), 'git/attributes')),
      excludesFile: fromHome(values.get('core.excludesfile') ?? join(configHome(), 'git/ignore')),
      createReflogs: on('core.logallrefupdates', true),
      refStorage: values.get('extensions.refstorage') ?? 'files',
    };
    return this.#known;
  }

  #usual(): string[] {
    return [
      join(this.#dirs.common, 'config'),
      join(this.#dirs.own, 'config.worktree'),
      process.env.GIT_CONFIG_GLOBAL || join(homedir(), '.gitconfig'),
      join(configHome(), 'git/config'),
      '/etc/gitconfig',
    ];
  }

  #look(): string {
    return this.#files
      .map(path => {
        const stat = statSync(path, {throwIfNoEntry: false, bigint: true});
        return stat ? `${stat.ino}.${stat.size}.${stat.mtimeNs}` : '-';
      })
      .join(' ');
  }
}

function fromHome(path: string): string {
  return path.replace(/^~(?=\/)/, homedir());
}

function configHome(): string {
  return process.env.XDG_CONFIG_HOME || join(homedir(), '.config');
}

/** The person's git identity in the current environment. */
export async function personHere(dir: string): Promise<Person> {
  const {code, stdout} = await git(dir, ['var', 'GIT_AUTHOR_IDENT']);
  return personOf(code === 0 ? stdout : '');
}

/** The person's git identity as the daemon records it: `Ada <ada@example.org>`. */
export async function authorHere(dir: string): Promise<string> {
  const {name, email} = await personHere(dir);
  return `${name} <${email}>`;
}

/** Parse `Ada <ada@example.org> 1700000000 +0100`. Falls back to the login name. */
function personOf(ident: string): Person {
  const [, name = '', email = ''] = /^(.*) <(.*)> \d+ [+-]\d+\s*$/.exec(ident) ?? [];
  if (name !== '' && email !== '') return {name, email};
  const user = loginName();
  return {name: user, email: `${user}@localhost`};
}
