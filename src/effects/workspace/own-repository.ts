import {createHash, randomBytes} from 'node:crypto';
import {existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {ownGitDir} from '../sandbox/profile.ts';
import {cleanEnvironment, cleanGit} from './clean-git.ts';
import {cloneOf} from './clone-record.ts';
import {excluded, gitDirOf} from './git-dir.ts';

/**
 * The agent's own repository, `workspace: {git: own}`: it branches and commits there, in the sandbox, where it stands in place of the
 * workspace's journal. Its hooks and settings are the agent's, so no git outside the sandbox may ever run in it: the daemon's does
 * so only here, before the agent sees it. Starts with the history that the workspace was cloned with.
 */
export async function makeOwnRepository(home: string, agent: string): Promise<void> {
  const path = ownGitDir(home, agent);
  if (existsSync(path)) return;
  const journal = gitDirOf(home, agent);
  const {branch = 'main', start} = cloneOf(journal) ?? {};
  const aside = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  try {
    for (const folder of ['objects/pack', 'objects/info', 'refs/heads', 'refs/tags', 'info', 'hooks'])
      mkdirSync(join(aside, folder), {recursive: true, mode: 0o700});
    writeFileSync(join(aside, 'HEAD'), `ref: refs/heads/${branch}\n`);
    writeFileSync(join(aside, 'info/exclude'), `${excluded.join('\n')}\n`);
    writeFileSync(join(aside, 'config'), await configOf(journal, agent));
    if (start !== undefined) {
      // Copies the objects: the agent can damage its own.
      const how = {environment: {...cleanEnvironment(), GIT_ALLOW_PROTOCOL: 'file'}};
      const refs = ['+refs/remotes/*:refs/remotes/*', '+refs/tags/*:refs/tags/*', `${start}:refs/agentdir/start`];
      for (const args of [
        ['fetch', '-q', '--no-recurse-submodules', '--update-shallow', journal, ...refs],
        ['update-ref', `refs/heads/${branch}`, start],
        ['update-ref', '-d', 'refs/agentdir/start'],
        ['read-tree', start],
      ]) {
        const {code, stderr} = await cleanGit(aside, args, how);
        if (code !== 0) throw new Error(`the agent's own repository could not be made: ${stderr.trim().slice(0, 300)}`);
      }
    }
    renameSync(aside, path);
  } finally {
    rmSync(aside, {recursive: true, force: true});
  }
}

async function configOf(journal: string, agent: string): Promise<string> {
  const {code, stdout} = await cleanGit(journal, ['config', '--get', 'remote.origin.url']);
  const url = code === 0 ? stdout.toString().trim().replace(/[\\"]/g, '\\$&') : undefined;
  const remote = `[remote "origin"]\n\turl = "${url}"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
  const core = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n';
  return `${core}[gc]\n\tauto = 0\n[user]\n\tname = ${agent}\n\temail = ${agent}@agentdir.invalid\n${url === undefined ? '' : remote}`;
}

/** Above this, an approval is bound to the moment instead: it is asked again whenever it is about to run. */
const MOST_FILES = 20_000;

/** Objects, which their names bind. Settings may include any other file. */
const OBJECT = /^objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38}|pack\/pack-[0-9a-f]{40}\.(?:pack|idx|rev))$/;

/**
 * Digest of what git obeys in the agent's own repository: everything but its objects. Undefined if there is none.
 */
export function ownRepositoryState(home: string, agent: string): string | undefined {
  const root = ownGitDir(home, agent);
  if (!lstatSync(root, {throwIfNoEntry: false})?.isDirectory()) return undefined;
  const hash = createHash('sha256');
  let left = MOST_FILES;
  const work = [''];
  for (let folder = work.pop(); folder !== undefined; folder = work.pop())
    for (const name of readdirSync(join(root, folder)).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const stat = lstatSync(join(root, path), {throwIfNoEntry: false});
      if (!stat || (stat.isFile() && OBJECT.test(path))) continue;
      if (left-- === 0) return `more than ${MOST_FILES} files, ${randomBytes(8).toString('hex')}`;
      if (stat.isDirectory()) work.push(path);
      // Programs can set the modification time, but not the change time.
      else hash.update(`${JSON.stringify(path)} ${stat.mode} ${stat.ino} ${stat.size} ${stat.ctimeMs}\n`);
    }
  return `sha256:${hash.digest('hex')}`;
}
