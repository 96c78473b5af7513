import {readFileSync, realpathSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {findBubblewrap} from './bubblewrap.ts';
import {scratchFolder} from './scratch.ts';
import {clearSelfTests, exampleWorkspace, selfTest} from './self-test.ts';

export type SandboxState =
  | {state: 'works'; version: string}
  /** Missing and broken: nothing runs in it. Untested: the disk is too full for the test. */
  | {state: 'missing' | 'broken' | 'untested'; why: string; hint: string};

export interface Sandbox {
  /** Cached after the first test. Tests again if missing or untested, and after a while if broken. Never throws. */
  state: () => Promise<SandboxState>;
}

/** A broken sandbox is tested again after this time: a kernel setting may have changed. */
const AGAIN_MS = 30_000;

export function makeSandbox(home: string): Sandbox {
  let known: Promise<SandboxState> | undefined;
  let since = 0;
  return {
    state: async () => {
      if (!known) since = performance.now();
      known ??= test(home);
      const state = await known;
      const isOpen = state.state === 'missing' || state.state === 'untested';
      if (isOpen || (state.state === 'broken' && performance.now() - since > AGAIN_MS)) known = undefined;
      return state;
    },
  };
}

async function test(home: string): Promise<SandboxState> {
  // Ignore a shortage of file descriptors: the next test tries again.
  await clearSelfTests(home).catch(() => {});
  const bubblewrap = await findBubblewrap();
  if (!bubblewrap) return {state: 'missing', why: 'bubblewrap is not installed', hint: howToInstall()};
  if ('problem' in bubblewrap) return {state: 'broken', why: bubblewrap.problem, hint: unusable};
  try {
    // A full disk says nothing about bubblewrap, and it may have been full for a moment only.
    let wrong = await selfTest(home);
    if (wrong !== undefined && hasRoom(home)) wrong = await selfTest(home);
    if (wrong === undefined) return {state: 'works', version: bubblewrap.version};
    if (!hasRoom(home)) return untested;
    const stranger = /cannot be written|Can't find source path/.test(wrong) ? belongsToAnother(home) : undefined;
    return {state: 'broken', ...(stranger ?? {why: wrong, hint: howToFix(wrong)})};
  } catch (error) {
    if (isFull(error)) return untested;
    return {state: 'broken', why: (error as Error).message, hint: 'the home must be writable for the self-test'};
  }
}

const untested: SandboxState = {
  state: 'untested',
  why: 'the disk is full, so the sandbox cannot be tested',
  hint: 'free some space; the daemon retries',
};

/** Bytes that the self-test writes, roughly. */
const ROOM = 8_192;

function hasRoom(home: string): boolean {
  const place = scratchFolder(join(home, '.agentdir'), 'sandbox-room');
  try {
    writeFileSync(join(place, 'room'), Buffer.alloc(ROOM));
    return true;
  } catch (error) {
    if (!isFull(error)) throw error;
    return false;
  } finally {
    rmSync(place, {recursive: true, force: true});
  }
}

function isFull(error: unknown): boolean {
  const {code} = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

const unusable = 'commands are not run in a sandbox that does not hold; a newer bubblewrap may';

function howToInstall(): string {
  return process.platform === 'linux'
    ? 'apt-get install bubblewrap, dnf install bubblewrap, apk add bubblewrap or pacman -S bubblewrap'
    : 'bubblewrap needs Linux: commands cannot be confined here';
}

/** Inside the sandbox, root is an ordinary user and cannot enter or write other users' folders. */
function belongsToAnother(home: string): {why: string; hint: string} | undefined {
  const ours = process.getuid?.() ?? 0;
  const workspace = realpathSync(exampleWorkspace(home));
  for (let path = workspace; path !== '/'; path = dirname(path)) {
    const {uid, mode} = statSync(path);
    if (uid === ours || (mode & (path === workspace ? 0o002 : 0o001)) !== 0) continue;
    const what = path === workspace ? 'the workspace' : `the folder ${path}`;
    return {
      why: `${what} belongs to another user than the daemon's: uid ${uid}`,
      hint: `start the daemon as uid ${uid}, or give the home to its user: chown -R ${ours} ${home}`,
    };
  }
  return undefined;
}

function howToFix(wrong: string): string {
  if (wrong.includes("Can't find source path"))
    return "the daemon's user must be able to enter the home and every folder above it";
  if (/namespace|uid map|Operation not permitted|No space left|Permission denied/i.test(wrong)) {
    if (setting('kernel/apparmor_restrict_unprivileged_userns') === '1')
      return 'AppArmor forbids user namespaces: give /usr/bin/bwrap a profile with "userns,", or sysctl kernel.apparmor_restrict_unprivileged_userns=0';
    if (setting('kernel/unprivileged_userns_clone') === '0')
      return 'user namespaces are off: sysctl kernel.unprivileged_userns_clone=1';
    if (setting('user/max_user_namespaces') === '0')
      return 'user namespaces are off: sysctl user.max_user_namespaces=10000';
    return 'user namespaces are not allowed here; in a container, start it with a seccomp profile that allows them';
  }
  return unusable;
}

function setting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'latin1').trim();
  } catch {
    return undefined;
  }
}
