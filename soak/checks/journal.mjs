import {violate} from '../ledger.mjs';
import {git, run} from '../run-command.mjs';

/** 8: what is on disk is in git, nothing is broken, and no commit of the daemon's is gone that nobody took out. */
export async function journal({ledger}, {home}, {whole}) {
  const {stdout: status} = await git(home, 'status', '--porcelain', '--untracked-files=all');
  const own = status.split('\n').filter(line => line && !/^...?own\//.test(line));
  if (own.length > 0) violate(ledger, 8, `git status is not clean: ${own[0]}`, own.join('\n'));
  const reachable = new Set((await git(home, 'rev-list', 'HEAD')).stdout.split('\n'));
  for (const [commit, subject] of ledger.committed)
    if (!reachable.has(commit) && !ledger.rewritten.has(commit))
      violate(ledger, 8, `commit ${commit.slice(0, 10)} of the daemon is gone: ${subject}`);
  if (!whole) return;
  const fsck = await git(home, 'fsck', '--full', '--strict', '--no-dangling', '--no-reflogs');
  if (fsck.code !== 0 || /error|missing|broken/.test(fsck.stdout + fsck.stderr))
    violate(ledger, 8, 'git fsck finds something', fsck.stdout + fsck.stderr);
  const locks = await run('find', ['.git', '-name', '*.lock'], home);
  if (locks.stdout) violate(ledger, 8, `a lock is left behind: ${locks.stdout.split('\n')[0]}`);
}
