import {git, loginName} from '../../home/git/git.ts';

export interface Notice {
  what: string;
  hint: string;
}

/** What is unusual about the user, the repository and its branch, and changes what a person may expect. */
export async function noticesOf(home: string): Promise<Notice[]> {
  const [ident, repository] = await Promise.all([
    git(home, ['var', 'GIT_AUTHOR_IDENT']),
    git(home, ['rev-parse', '--is-shallow-repository', '--symbolic-full-name', 'HEAD']),
  ]);
  const [shallow, branch] = repository.stdout.split('\n');
  const notices: Notice[] = [];
  if (process.getuid?.() === 0)
    notices.push({
      what: 'running as root, and so do commands of agents outside the sandbox',
      hint: 'better start it as a user of its own',
    });
  if (ident.code !== 0)
    notices.push({
      what: `git does not know who you are: your edits and decisions are recorded as ${loginName()}`,
      hint: 'git config --global user.name "Your Name"; git config --global user.email you@example.org; then start again',
    });
  if (branch === 'HEAD' && repository.code === 0)
    notices.push({
      what: 'git is on no branch (detached HEAD): what is committed now belongs to none',
      hint: 'git switch -c NAME keeps it, now or later',
    });
  if (shallow === 'true')
    notices.push({
      what: 'the history is cut off (a shallow clone): log, undo and verify see only what is here',
      hint: 'git fetch --unshallow',
    });
  return notices;
}
