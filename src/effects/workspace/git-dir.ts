import {randomBytes} from 'node:crypto';
import {existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {failure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';

/** Folder of all workspaces' git-dirs, which agents cannot write. */
export function gitDirs(home: string): string {
  return join(home, '.workspaces');
}

export function gitDirOf(home: string, agent: string): string {
  return join(gitDirs(home), `${agent}.git`);
}

/** For a person's own git in the workspace; the daemon's git uses clean-git.ts. */
const config = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\tsymlinks = true
\thooksPath = /dev/null
\tfsmonitor = false
\tautocrlf = false
\tuntrackedCache = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[submodule]
\trecurse = false
[index]
\tsparse = false
`;

/** Keep and show bytes as they are, whatever a .gitattributes says. */
const attributes =
  '* -text !eol !crlf !filter !ident !working-tree-encoding !diff !export-subst !export-ignore !merge\n';

/** Never committed: the daemon's files and installed packages. */
export const excluded: readonly string[] = [
  '/.output/',
  '/.untrusted/',
  '/.git-found-*',
  '.agentdir-*.tmp',
  'node_modules/',
];

/** Create a repository without commits, atomically. `path` must not exist. */
export function makeGitDir(path: string, branch: string, more = ''): void {
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  try {
    for (const folder of ['objects/pack', 'objects/info', 'refs/heads', 'refs/tags', 'info'])
      mkdirSync(join(temporary, folder), {recursive: true, mode: 0o700});
    writeFileSync(join(temporary, 'HEAD'), `ref: refs/heads/${branch}\n`);
    writeFileSync(join(temporary, 'config'), config + more);
    writeFileSync(join(temporary, 'description'), 'What an agent did to its files. Kept by agentdir.\n');
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, {recursive: true, force: true});
  }
  keepInfo(path);
}

/** Create the folder of git-dirs, and check whether this git-dir exists. Refuses a link in place of either. */
export function findGitDir(home: string, agent: string): boolean | ToolFailure {
  mkdirSync(gitDirs(home), {recursive: true, mode: 0o700});
  for (const path of [gitDirs(home), gitDirOf(home, agent)]) {
    const stat = lstatSync(path, {throwIfNoEntry: false});
    if (!stat) return false;
    if (!stat.isDirectory())
      return failure('FAILED', `${path.slice(home.length + 1)} is not a folder; nothing is done in its workspace`);
  }
  return true;
}

/** Write info/attributes and info/exclude if needed. */
export function keepInfo(path: string): void {
  mkdirSync(join(path, 'info'), {recursive: true});
  const own = join(path, 'info/attributes');
  if (textOf(own) !== attributes) writeFileSync(own, attributes);
  const exclude = join(path, 'info/exclude');
  const lines = textOf(exclude).split('\n');
  const missing = excluded.filter(line => !lines.includes(line));
  if (missing.length > 0) writeFileSync(exclude, `${[...lines.filter(Boolean), ...missing].join('\n')}\n`);
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
