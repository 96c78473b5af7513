import {git} from '../../home/git/git.ts';
import {headCommit} from '../../home/history.ts';

export interface Line {
  sign: '+' | '-';
  text: string;
}

export interface CommittedFile {
  commit: string;
  author: string;
  path: string;
  lines: readonly Line[];
}

const FORMAT = '%x00%h%x00%an%x00';
const LOG = [
  ...['log', '--reverse', '--topo-order', '--patch', '--unified=0', '--no-renames', '--no-color', '--no-ext-diff'],
  ...['--no-textconv', '--src-prefix=a/', '--dst-prefix=b/', '--no-decorate', '--no-show-signature', '--no-notes'],
];

/** Reads the growing journal, oldest first. */
export class Commits {
  readonly changes: CommittedFile[] = [];
  readonly #home: string;
  #head: string | undefined;

  constructor(home: string) {
    this.#home = home;
  }

  /** Reads new commits. */
  async look(): Promise<void> {
    const head = await headCommit(this.#home);
    if (head === undefined || head === this.#head) return;
    const range = this.#head === undefined ? head : `${this.#head}..${head}`;
    const {code, stdout} = await git(this.#home, [...LOG, `--format=${FORMAT}`, range, '--']);
    if (code !== 0) return;
    this.#head = head;
    const [, ...fields] = stdout.split('\0');
    for (let at = 0; at + 2 < fields.length; at += 3) {
      const [commit = '', author = '', patch = ''] = fields.slice(at, at + 3);
      this.changes.push(...filesOf(patch).map(file => ({commit, author, ...file})));
    }
  }
}

function filesOf(patch: string): {path: string; lines: Line[]}[] {
  const files: {path: string; lines: Line[]}[] = [];
  let inHunk = false;
  for (const text of patch.split('\n')) {
    if (text.startsWith('diff --git ')) {
      inHunk = false;
      files.push({path: '', lines: []});
    }
    const file = files.at(-1);
    if (!file) continue;
    if (text.startsWith('@@ ')) inHunk = true;
    else if (!inHunk) file.path = /^(?:---|\+\+\+) [ab]\/(.*)$/.exec(text)?.[1] ?? file.path;
    else if (text.startsWith('+')) file.lines.push({sign: '+', text: text.slice(1)});
    else if (text.startsWith('-')) file.lines.push({sign: '-', text: text.slice(1)});
  }
  return files;
}
