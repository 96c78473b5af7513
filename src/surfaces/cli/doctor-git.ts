import {existsSync} from 'node:fs';
import {basename, join, resolve} from 'node:path';
import {git, loginName} from '../../home/git/git.ts';
import type {DoctorFinding} from './doctor-finding.ts';

export async function checkGit(home: string): Promise<DoctorFinding> {
  const {code, stdout} = await git(home, ['--version']);
  if (code !== 0) return {name: 'git', state: 'bad', message: 'not found', hint: 'apt-get install git'};
  return {name: 'git', state: 'ok', message: stdout.trim().replace('git version ', '')};
}

export async function checkIdentity(home: string): Promise<DoctorFinding> {
  const {code, stdout} = await git(home, ['var', 'GIT_AUTHOR_IDENT']);
  const who = stdout.replace(/>.*/s, '>');
  return code === 0
    ? {name: 'identity', state: 'ok', message: `your edits are committed as ${who}`}
    : {
        name: 'identity',
        state: 'note',
        message: `git has no user.name and user.email; your edits are committed as ${loginName()}`,
        hint: 'git config --global user.name "Your Name"; git config --global user.email you@example.org',
      };
}

export async function checkRepository(home: string): Promise<DoctorFinding[]> {
  const [{stdout}, {stdout: head}, {code}] = await Promise.all([
    git(home, ['rev-parse', '--absolute-git-dir', '--git-common-dir']),
    git(home, ['symbolic-ref', '-q', 'HEAD']),
    git(home, ['rev-parse', '-q', '--verify', 'HEAD']),
  ]);
  const [gitDir = '', common = ''] = stdout.split('\n');
  if (gitDir === '') return [{name: 'repository', state: 'bad', message: 'none', hint: 'make one: agentdir init .'}];
  const ref = head.trim();
  const branch = ref.replace('refs/heads/', '');
  const found: DoctorFinding[] = [
    {
      name: 'repository',
      state: 'ok',
      message: code !== 0 ? 'no commits yet' : branch === '' ? 'on no branch (detached)' : `on branch ${branch}`,
    },
  ];
  for (const [file, what, remedy] of [
    ['rebase-merge', 'a rebase is in progress; the journal waits', 'git rebase --continue, or --abort'],
    ['rebase-apply', 'a rebase or am is in progress; the journal waits', 'git rebase --continue, or --abort'],
    ['MERGE_HEAD', 'a merge is in progress; the journal waits', 'git commit, or git merge --abort'],
    ['CHERRY_PICK_HEAD', 'a cherry-pick is in progress; the journal waits', 'git cherry-pick --continue, or --abort'],
    ['REVERT_HEAD', 'a revert is in progress; the journal waits', 'git revert --continue, or --abort'],
    ['BISECT_LOG', 'a bisect is in progress; the journal waits', 'git bisect reset'],
  ] as const)
    if (existsSync(join(gitDir, file))) found.push({name: 'repository', state: 'bad', message: what, hint: remedy});
  const shared = ['packed-refs.lock', ...(ref === '' ? [] : [`${ref}.lock`])];
  const locks = [
    ...['index.lock', 'HEAD.lock'].map(name => join(gitDir, name)),
    ...shared.map(name => resolve(home, common, name)),
  ].filter(path => existsSync(path));
  const fsck = await git(home, ['fsck', '--connectivity-only', '--no-dangling', '--no-progress']);
  for (const path of locks.filter(lock => existsSync(lock)))
    found.push({
      name: 'repository',
      state: 'bad',
      message: `a git command is running, or one crashed and left a lock file: ${basename(path)}`,
      hint: `if no git command is running: rm ${path}`,
    });
  found.push(
    fsck.code === 0
      ? {name: 'journal', state: 'ok', message: 'git fsck passed'}
      : {
          name: 'journal',
          state: 'bad',
          message: (fsck.stderr || fsck.stdout).trim().split('\n')[0] ?? '',
          hint: 'git fsck --full',
        },
  );
  return found;
}
