import {createHash} from 'node:crypto';
import {homedir, userInfo} from 'node:os';
import {dirname} from 'node:path';

/** Search path for programs. Agents cannot write any of these folders. */
export const systemPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const;

/** Environment variable that carries the call's mark in every process of a call; `endLeftovers` searches for it. */
export const markName = 'AGENTDIR_CALL';

/** Identifies the processes of a call: unique per run of the daemon, session and call. */
export function markOf(run: string, session: string, call: string): string {
  return createHash('sha256')
    .update(JSON.stringify([run, session, call]))
    .digest('hex')
    .slice(0, 32);
}

/** Empty folder that marks a sandbox: programs inside cannot remove it, and outside it shows up in their mountinfo. */
export function markMount(mark: string): string {
  return `/run/agentdir/${encodeURIComponent(mark)}`;
}

export const confinedHome = '/tmp/home';

/**
 * Git runs programs that a repository's own configuration names, and an agent can lay out a repository of plain files.
 * These settings override every configuration file. Filters, diff and merge drivers and aliases have arbitrary names,
 * so no setting turns them all off: outside the sandbox, git needs a person's approval.
 */
const gitSettings: readonly (readonly [string, string])[] = [
  ['safe.bareRepository', 'explicit'],
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['core.askPass', ''],
  ['core.sshCommand', 'ssh'],
  ['credential.helper', ''],
  ['gpg.program', 'gpg'],
  ['gpg.ssh.program', 'ssh-keygen'],
  ['gpg.x509.program', 'gpgsm'],
  ['protocol.ext.allow', 'never'],
];

/** Environment of a call's programs, except PATH. Inherits from the daemon only what `host` needs. */
export function environment(call: {workspace: string; mark: string; confined: boolean}): Record<string, string> {
  return {
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    [markName]: call.mark,
    ...(call.confined ? {HOME: confinedHome, TMPDIR: '/tmp', ...user()} : host()),
    ...git(call.workspace),
  };
}

/** Programs such as docker find their settings through these variables. */
function host(): Record<string, string> {
  const runtime = process.env.XDG_RUNTIME_DIR;
  return {HOME: homedir(), ...user(), ...(runtime ? {XDG_RUNTIME_DIR: runtime} : {})};
}

function user(): Record<string, string> {
  try {
    const name = userInfo().username;
    return {USER: name, LOGNAME: name};
  } catch {
    return {}; // a user id without a name
  }
}

function git(workspace: string): Record<string, string> {
  return {
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CEILING_DIRECTORIES: dirname(workspace),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_COUNT: String(gitSettings.length),
    ...Object.fromEntries(
      gitSettings.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  };
}
