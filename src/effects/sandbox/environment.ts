import {homedir, userInfo} from 'node:os';
import {dirname} from 'node:path';

/** Where programs are looked for: nothing here can be written by an agent. */
export const systemPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const;

/** Every process of a call has the call's mark under this name: `endLeftovers` finds it there. */
export const markName = 'AGENTDIR_CALL';

/** In the sandbox it is also an empty folder: nobody there can undo it, and the mounts of each process tell of it outside. */
export function markMount(mark: string): string {
  return `/run/agentdir/${encodeURIComponent(mark)}`;
}

/** In the sandbox: a folder of the private /tmp. */
export const confinedHome = '/tmp/home';

/**
 * Git runs programs that the repository's own configuration names, and an agent can lay out a repository of plain
 * files. These settings come after every file and win over them. What a repository can name freely (filters, diff and
 * merge drivers, aliases) has no setting that turns all of it off: outside the sandbox, git is for a person to approve.
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

/** What the programs of a call see but for PATH, built from nothing: of the daemon's own environment only what `host` must have. */
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

/** Programs such as docker find their settings by these. */
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
