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

/** Results that the script below must report, by check. */
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
 * `$1`: nonce that starts each line of ours; `$2`: a file in the home; `$3`: a file of the user; `$4`: the daemon's
 * namespaces. Harmless checks come first, and the script stops if they fail. Later checks write nothing outside the
 * test's own folder: `test -w` asks the kernel whether a place is writable. Starts few processes: each start of the daemon waits for them.
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

/** The test takes some 10 ms. The limit is generous: a busy machine must not make the sandbox look broken. */
const patienceMs = 15_000;

/** Checks that must pass before the others run. */
const first = ['namespaces', 'capabilities', 'privileges'];

/**
 * Run a script that tries to escape from the sandbox that commands get, and check the results that it reports in lines
 * with a random nonce. Undefined: the sandbox holds. Otherwise what failed.
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
    // Inside, /tmp may contain a folder of this name; check the real folder.
    found.outside = existsSync(join(place, 'file')) ? 'written' : 'unchanged';
    return wrong(found, Object.keys(expected));
  } finally {
    rmSync(place, {recursive: true, force: true});
  }
}

/** Clean up self-tests of killed daemons: processes first, then folders. */
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

/** A workspace of this home, or the folder in which the first would be created. */
export function exampleWorkspace(home: string): string {
  const all = join(home, 'workspaces');
  if (!existsSync(all)) return home;
  const some = readdirSync(all, {withFileTypes: true}).find(entry => entry.isDirectory());
  return some ? join(all, some.name) : all;
}

/** Copy owner and mode: root inside the sandbox may not write everything that root outside may. */
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
  /** Name of the test's folder, so that the processes of an abandoned folder can be found. */
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

/** A file or folder in the user's home folder, not above `home`; it must be invisible inside. */
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
