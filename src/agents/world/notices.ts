import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {git, loginName} from '../../home/git/git.ts';

export interface Notice {
  what: string;
  hint: string;
}

/** Notices about an unusual user, repository or branch, and a missing policy. */
export async function noticesOf(home: string): Promise<Notice[]> {
  const [ident, repository] = await Promise.all([
    git(home, ['var', 'GIT_AUTHOR_IDENT']),
    git(home, ['rev-parse', '--is-shallow-repository', '--symbolic-full-name', 'HEAD']),
  ]);
  const [shallow, branch] = repository.stdout.split('\n');
  const notices: Notice[] = [];
  if (process.getuid?.() === 0)
    notices.push({
      what: 'running as root: commands outside the sandbox run as root too',
      hint: 'run the daemon as a separate user',
    });
  if (ident.code !== 0)
    notices.push({
      what: `git does not know who you are: your edits and decisions are recorded as ${loginName()}`,
      hint: 'git config --global user.name "Your Name"; git config --global user.email you@example.org; then start again',
    });
  if (!existsSync(join(home, 'allowlist.yaml')))
    notices.push({
      what: 'there is no allowlist.yaml: every command needs your approval',
      hint: 'restore it from git, or: agentdir init . adds the shipped one',
    });
  if (branch === 'HEAD' && repository.code === 0)
    notices.push({
      what: 'git is on no branch (detached HEAD): new commits belong to no branch',
      hint: 'git switch -c NAME keeps them',
    });
  if (shallow === 'true')
    notices.push({
      what: 'this is a shallow clone: log, undo and verify see only part of the history',
      hint: 'git fetch --unshallow',
    });
  return notices;
}
