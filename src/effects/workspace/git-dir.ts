import {randomBytes} from 'node:crypto';
import {existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {failure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';

/** All git-dirs of a home's workspaces: outside of what an agent can write. */
export function gitDirs(home: string): string {
  return join(home, '.workspaces');
}

export function gitDirOf(home: string, agent: string): string {
  return join(gitDirs(home), `${agent}.git`);
}

/** For a person's own git there; what the daemon's git may run is in clean-git.ts. */
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

/** Bytes are kept as they are, and shown, whatever a .gitattributes says. */
const attributes =
  '* -text !eol !crlf !filter !ident !working-tree-encoding !diff !export-subst !export-ignore !merge\n';

/** Never committed: what the daemon keeps there, and what packages are made of. */
const excluded = ['/.output/', '/.untrusted/', '/.git-found-*', '.agentdir-*.tmp', 'node_modules/'];

/** A new repository without a commit. Its folder must not be there; it is there whole or not at all. */
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

/** The folder of all git-dirs, and whether this one is there. A link in their place leads who knows where. */
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

/** The parts of the repository that keep bytes as they are, and the daemon's own files out of it. */
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
