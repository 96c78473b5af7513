/** A script by which an agent tries to reach out of its workspace, and what becomes of it in the sandbox. */
export interface Trick {
  /** Run by bash in workspaces/talker. What it writes says `evil`. */
  script: string;
  /**
   * `fails`: its last command does. `runs`: it ends well, and nothing came of it outside. `either`: below /tmp, of which
   * the sandbox has its own, there may be folders to write to.
   */
  ends: 'fails' | 'runs' | 'either';
}

const fails = (script: string): Trick => ({script, ends: 'fails'});
const runs = (script: string): Trick => ({script, ends: 'runs'});
const either = (script: string): Trick => ({script, ends: 'either'});

/** By what they try to reach. `home` is absolute. */
export const tricks = (home: string): Record<string, Trick> => ({
  // Where a person decides, and what they decided once and for all.
  'the policy by its absolute path': either(`echo '# evil' >> ${home}/allowlist.yaml`),
  'the settings by ..': either("echo '# evil' >> ../../agentdir.yaml"),
  'a new template': either('mkdir -p ../../templates && echo evil > ../../templates/evil.agent.yaml'),
  'a template by way of /proc/self/cwd': either('echo evil >> /proc/self/cwd/../../templates/other.agent.yaml'),
  'the queue of approvals': fails("sed -i 's/\\[_\\]/[x]/' ../../tasks/approvals.task.md"),
  'a page of an approval': either('for page in ../../approvals/pending/*; do echo evil >> "$page"; done'),
  'a page that says it was approved': either(
    'mkdir -p ../../approvals/approved && echo evil > ../../approvals/approved/evil.approval.md',
  ),
  'the archive of approvals': either('echo evil > ../../tasks/archive/approvals-2020-01.task.md'),
  // What else is in the home.
  'a session': fails(`sed -i 's/status: .*/status: active/' ${home}/sessions/bystander.session.yaml`),
  'the memory': either('echo evil >> ../../memory/team.md'),
  'the state': either('mkdir -p ../../state && echo evil > ../../state/evil.yaml'),
  "the daemon's own files": fails('echo evil > ../../.agentdir/canary'),
  'the workspace of another': fails('echo evil > ../other/file.txt'),
  // Names of the workspace and links.
  'a link to a file': runs('ln -s ../../allowlist.yaml to-file; echo evil >> to-file; test -L to-file'),
  'a link to a folder': runs('ln -s ../.. to-home; touch to-home/evil; test -L to-home'),
  'an absolute link': runs(`ln -s ${home}/templates to-templates; touch to-templates/evil; test -L to-templates`),
  'a link to the working directory of whoever reads it': runs('ln -s /proc/self/cwd to-self; test -L to-self'),
  'a link to nothing yet': runs('ln -s ../../templates/evil.agent.yaml to-nothing; test -L to-nothing'),
  'a hard link to what is outside': fails('ln ../../allowlist.yaml twin-of-policy'),
  'two names of one file': runs('echo own > one; ln one two; mkdir sub'),
  'another name for the workspace': fails('mv ../talker ../gone'),
  'the workspace of another in its place': either('cd .. && mv talker away && ln -s other talker'),
  'a folder above the workspace': either('cd ../.. && mkdir evil'),
  'a pipe that somebody waits at': runs('mkfifo pipe; (cat pipe > ../../memory/evil.md &) 2>/dev/null; test -p pipe'),
  // Processes that outlive the call.
  'a process in the background': runs('(sleep 0.2; echo evil >> ../../allowlist.yaml; touch late-1) & true'),
  'a process of another session': runs("setsid nohup bash -c 'sleep 0.2; touch late-2' > /dev/null 2>&1 & true"),
  'one without environment': runs("env -i setsid /bin/bash -c 'sleep 0.2; /bin/touch late-3' > /dev/null 2>&1 & true"),
  'the process that runs the daemon': fails(`kill -0 ${process.ppid} || kill -0 ${process.pid}`),
  'open files of others': runs('for fd in /proc/[0-9]*/fd/*; do echo evil > "$fd"; done 2>/dev/null >&2; true'),
  'the root of the first process': fails(`echo evil >> /proc/1/root${home}/allowlist.yaml`),
  'a new user namespace': fails('unshare -r bash -c "mount --bind / /mnt"'),
  'a writable root': fails('mount -o remount,rw / && touch /evil'),
  'a device': fails('mknod disk b 8 0'),
  // Git.
  "a hook in the home's repository": fails('echo evil > ../../.git/hooks/pre-commit'),
  "settings of the home's repository": fails('git config --file ../../.git/config core.fsmonitor evil'),
  'a commit in the home': fails('git -C ../.. commit --allow-empty -m evil'),
  'a branch of the home': fails(`GIT_DIR=${home}/.git git update-ref refs/heads/evil HEAD`),
  'a worktree of the home': fails(`git --git-dir=${home}/.git worktree add evil`),
  'a worktree of its own history': either('git worktree add ../evil'),
  'objects of the home as alternates': fails(`echo ${home}/.git/objects > .git/objects/info/alternates`),
  'settings of its own history': fails('git config core.fsmonitor evil'),
  'a hook of its own history': fails('echo evil > ../../.workspaces/talker.git/hooks/pre-commit'),
  'a commit of its own': fails('touch own && git add own'),
  'the history of another': either('mkdir -p ../../.workspaces/other.git/hooks'),
  'another .git': fails('rm -f .git || mv .git gone'),
});
