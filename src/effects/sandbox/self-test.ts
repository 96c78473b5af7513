import {randomBytes} from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {homedir} from 'node:os';
import {basename, join} from 'node:path';
import {endLeftovers} from './leftovers.ts';
import {runPrograms} from './run.ts';
import {abandonedScratch, removeScratch, scratchFolder} from './scratch.ts';
import {hasFilter} from './seccomp.ts';

/** What the script below must find, each a word and what it has to say. */
const expected: Readonly<Record<string, string>> = {
  workspace: 'written',
  'read-only-workspace': 'refused',
  home: 'hidden',
  'other-home': 'hidden',
  usr: 'refused',
  etc: 'refused',
  root: 'refused',
  outside: 'unchanged',
  sysctl: 'refused',
  remount: 'refused',
  capabilities: 'none',
  privileges: 'none',
  network: 'none',
  environment: 'clean',
  namespaces: 'own',
  ...(hasFilter ? {filter: 'refused'} : {}),
};

/** What each of them means, for a person. */
const meaning: Readonly<Record<string, string>> = {
  workspace: 'the workspace cannot be written',
  'read-only-workspace': 'a read-only workspace was written',
  home: 'a file of the home was read',
  'other-home': 'a file of the user was seen',
  usr: '/usr was written',
  etc: '/etc was written',
  root: '/ was written',
  outside: 'a folder outside the workspace was written',
  sysctl: 'a setting of the kernel could be written',
  remount: '/usr was made writable',
  capabilities: 'it has capabilities',
  privileges: 'it can gain privileges',
  network: 'it sees a network',
  environment: "it sees the daemon's environment",
  namespaces: "it shares the daemon's processes, network or mounts",
  filter: 'the filter of system calls does not work',
};

/**
 * `$1` the word that starts each line of ours, `$2` a file of the home, `$3` one of the user, `$4` the daemon's
 * namespaces. Few processes: each start waits for this. First what does no harm where nothing is confined: if that fails, it stops. Nor does it write outside its
 * own folder later: whether a place can be written the kernel tells as well.
 */
const script = `
say() { echo "$nonce $1 $2"; }
try() { word=$1; shift; if ("$@") >/dev/null 2>&1; then say "$word" written; else say "$word" refused; fi; }
write() { : > "$1"; }
nonce=$1 home=$2 user=$3 ours=$4
if [ "$5" = ro ]; then try read-only-workspace write ./file; say done done; exit; fi
holds=yes
judge() { say "$1" "$2"; [ "$2" = "$3" ] || holds=; }
shared= capabilities=none privileges=some network=none
for name in $(cd /proc/self/ns && readlink pid net mnt ipc uts user); do case " $ours " in *" $name "*) shared=$name;; esac; done
judge namespaces "\${shared:-own}" own
while read -r line; do
  case $line in Cap*:*[1-9a-f]*) capabilities=some;; NoNewPrivs:*1*) privileges=none;; esac
done < /proc/self/status
judge capabilities "$capabilities" none
judge privileges "$privileges" none
if [ -z "$holds" ]; then say done done; exit; fi
try workspace write ./file
try filter chmod 4755 ./file
if (: < "$home") 2>/dev/null; then say home read; else say home hidden; fi
if [ -n "$user" ] && [ -e "$user" ]; then say other-home seen; else say other-home hidden; fi
try usr test -w /usr
try etc test -w /etc
try root test -w /
(write "\${home%/*}/file") 2>/dev/null
try sysctl test -w /proc/sys/kernel/core_pattern
(mount -o remount,rw /usr; mount -o remount,rw,bind /usr) >/dev/null 2>&1
try remount test -w /usr
while read -r line; do case $line in lo:*) ;; *:*) network=some;; esac; done < /proc/net/dev
say network "$network"
if cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' |
  grep -Evq '^(PATH|LANG|TERM|NO_COLOR|AGENTDIR_CALL|HOME|TMPDIR|USER|LOGNAME|PWD|OLDPWD|SHLVL|_|GIT_[A-Z0-9_]*)='
then say environment seen; else say environment clean; fi
say done done
`;

/** Takes a few hundredths of a second. A machine that is busy is no reason to run commands without a sandbox. */
const patienceMs = 15_000;

/** What it must find before it goes on. */
const first = ['namespaces', 'capabilities', 'privileges'];

/**
 * Runs a script that tries to escape, in the very sandbox that commands get, and judges it by what it says in lines
 * that begin with a random word. Undefined: it holds. Else what does not.
 */
export async function selfTest(home: string): Promise<string | undefined> {
  const folder = join(home, '.agentdir');
  if (!existsSync(folder)) mkdirSync(folder);
  const place = scratchFolder(folder, 'sandbox-test');
  try {
    const workspace = join(place, 'workspace');
    mkdirSync(workspace);
    makeLike(exampleWorkspace(home), workspace);
    const canary = join(realpathSync(place), 'canary');
    writeFileSync(canary, 'canary');
    const found: Record<string, string> = {};
    for (const readOnly of [false, true]) {
      const said = await attempt({home, workspace, canary, readOnly, mark: basename(place)});
      if (typeof said === 'string') return said;
      Object.assign(found, said);
      const early = wrong(found, first);
      if (early !== undefined) return early;
    }
    // Under /tmp there may be a folder of that name inside; what counts is the real one.
    found.outside = existsSync(join(place, 'file')) ? 'written' : 'unchanged';
    return wrong(found, Object.keys(expected));
  } finally {
    rmSync(place, {recursive: true, force: true});
  }
}

/** End what killed daemons left of their self-tests: processes first, then folders. */
export async function clearSelfTests(home: string): Promise<void> {
  for (const place of abandonedScratch(join(home, '.agentdir'))) {
    await endLeftovers(basename(place));
    removeScratch(place);
  }
}

function wrong(found: Readonly<Record<string, string>>, words: readonly string[]): string | undefined {
  const not = words.filter(word => found[word] !== expected[word]);
  return not.length === 0 ? undefined : not.map(word => meaning[word] ?? word).join('; ');
}

/** A workspace of this home, or the folder in which the first would be made. */
export function exampleWorkspace(home: string): string {
  const all = join(home, 'workspaces');
  if (!existsSync(all)) return home;
  const some = readdirSync(all, {withFileTypes: true}).find(entry => entry.isDirectory());
  return some ? join(all, some.name) : all;
}

/** With the same owner: what root may write outside, it may not write inside. */
function makeLike(example: string, folder: string): void {
  if (process.getuid?.() !== 0) return;
  const {uid, gid, mode} = statSync(example);
  chownSync(folder, uid, gid);
  chmodSync(folder, mode & 0o777);
}

async function attempt(place: {
  home: string;
  workspace: string;
  canary: string;
  readOnly: boolean;
  /** The name of the test's folder: whoever finds the folder can find the processes. */
  mark: string;
}): Promise<string | Record<string, string>> {
  const {home, workspace, canary, readOnly, mark} = place;
  const nonce = randomBytes(12).toString('hex');
  const argv = ['/bin/sh', '-c', script, 'sh', nonce, canary, userFile(home), namespaces(), readOnly ? 'ro' : 'rw'];
  const output = {stdout: '', stderr: ''};
  const ran = await runPrograms({
    programs: [{argv, operator: '', confined: true, network: false}],
    ...{home, workspace, readOnly, mark},
    ...{timeoutMs: patienceMs, mostOutput: 65_536, signal: new AbortController().signal},
    onOutput: (stream, chunk) => {
      output[stream] += chunk.toString('latin1');
    },
  });
  const lines = output.stdout.split('\n').filter(line => line.startsWith(`${nonce} `));
  const said = Object.fromEntries(lines.map(line => line.split(' ').slice(1, 3)));
  if (said.done === 'done') return said;
  return ['it does not run', output.stderr.trim() || (ran.error ?? ran.how)].join(': ');
}

/** Some file or folder of the user's that is not on the way to the home: it must not be there inside. */
function userFile(home: string): string {
  try {
    const user = realpathSync(homedir());
    const way = `${realpathSync(home)}/`;
    const name = readdirSync(user).find(entry => !way.startsWith(`${join(user, entry)}/`));
    return name === undefined || user === '/' ? '' : join(user, name);
  } catch {
    return '';
  }
}

function namespaces(): string {
  return ['pid', 'net', 'mnt', 'ipc', 'uts', 'user'].map(name => readlinkSync(`/proc/self/ns/${name}`)).join(' ');
}
