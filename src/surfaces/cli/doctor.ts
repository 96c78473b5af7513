import {accessSync, constants, existsSync, readFileSync, statfsSync} from 'node:fs';
import {join} from 'node:path';
import {groupControls} from '../../effects/sandbox/control-groups.ts';
import {makeSandbox} from '../../effects/sandbox/sandbox.ts';
import {exit} from '../../formats/common/errors.ts';
import {folders} from '../../formats/common/key.ts';
import {providerKeys} from '../../formats/providers.ts';
import {parseSettings} from '../../formats/settings.ts';
import {ignoredInHome} from '../../home/create.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {MARKER} from '../../home/locate.ts';
import {readHomeFile} from '../../home/read.ts';
import {daemonOf, readStatus} from '../../home/status.ts';
import {SHORTEST_KEY} from '../../policy/redact/redact-credential.ts';
import {keyVariables} from '../actions/talk/redact-message.ts';
import {colors, plural, print, printJson} from '../terminal/output.ts';
import {checkConnectors} from './doctor-connectors.ts';
import {checkFiles} from './doctor-files.ts';
import type {DoctorFinding} from './doctor-finding.ts';
import {checkGit, checkIdentity, checkRepository} from './doctor-git.ts';
import {checkInboxes} from './doctor-inboxes.ts';
import {checkLimits} from './doctor-limits.ts';
import {checkSaves} from './doctor-saves.ts';

const NAME = 11;

/** Checks machine and home; exit 1 if there is a problem. */
export async function doctorCommand({home, json}: {home: string; json: boolean}): Promise<number> {
  // Run external programs in parallel.
  const [installed, person, kept, files, saving, confined, signing] = await Promise.all([
    checkGit(home),
    checkIdentity(home),
    checkRepository(home),
    checkFiles(home),
    checkSaves(home),
    sandbox(home),
    signers(home),
  ]);
  const findings = [
    node(),
    installed,
    person,
    ...kept,
    daemon(home),
    ...files,
    ...policy(home),
    watches(),
    writable(home),
    space(home),
    saving,
    ignoring(home),
    ...checkInboxes(home),
    ...checkLimits(home),
    ...shortKeys(home),
    ...checkConnectors(home),
    confined,
    ...signing,
  ];
  const bad = findings.filter(({state}) => state === 'bad').length;
  if (json) printJson(findings);
  else {
    const marks = {ok: colors.green('✓'), note: colors.yellow('!'), bad: colors.red('✗')};
    for (const {name, state, message, hint} of findings) {
      print(`${marks[state]} ${name.padEnd(NAME)} ${message}`, NAME + 3);
      if (hint) print(`  ${' '.repeat(NAME)} ${colors.cyan('=')} ${hint}`, NAME + 5);
    }
    const notes = findings.filter(({state}) => state === 'note').length;
    const color = bad > 0 ? colors.red : notes > 0 ? colors.yellow : colors.green;
    print(`\n${color(`${plural(bad, 'problem')}${notes > 0 ? `, ${plural(notes, 'note')}` : ''}`)}`);
  }
  return bad > 0 ? exit.failed : exit.done;
}

function node(): DoctorFinding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const old = major < 20 || (major === 20 && minor < 19);
  return old
    ? {name: 'node', state: 'bad', message: `${process.versions.node} is too old`, hint: 'install Node 20.19 or newer'}
    : {name: 'node', state: 'ok', message: process.versions.node};
}

function daemon(home: string): DoctorFinding {
  const holder = daemonOf(nodeDisk(home));
  const status = readStatus(nodeDisk(home));
  if (!holder) return {name: 'daemon', state: 'note', message: 'not running', hint: 'agentdir start --background'};
  const trouble = status?.troubles[0];
  return trouble
    ? {name: 'daemon', state: 'bad', message: `process ${holder.pid} is blocked`, hint: trouble.what}
    : {name: 'daemon', state: 'ok', message: `process ${holder.pid}`};
}

function policy(home: string): DoctorFinding[] {
  if (existsSync(join(home, 'allowlist.yaml'))) return [];
  const message = 'there is no allowlist.yaml, so every command needs approval';
  return [{name: 'policy', state: 'note', message, hint: 'agentdir init . adds the shipped one'}];
}

function watches(): DoctorFinding {
  try {
    const limit = Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8'));
    const low = limit < 8_192;
    return {
      name: 'watching',
      state: low ? 'note' : 'ok',
      message: `up to ${limit} watches, one per folder`,
      ...(low && {hint: 'raise it: sysctl fs.inotify.max_user_watches=65536'}),
    };
  } catch {
    return {name: 'watching', state: 'ok', message: `by ${process.platform}`};
  }
}

function writable(home: string): DoctorFinding {
  const closed = ['.', '.agentdir', ...folders].filter(
    folder => existsSync(join(home, folder)) && !canWrite(join(home, folder)),
  );
  return closed.length === 0
    ? {name: 'folders', state: 'ok', message: 'all writable'}
    : {
        name: 'folders',
        state: 'bad',
        message: `not writable: ${closed.join(', ')}`,
        hint: 'check owner and mode: ls -ld',
      };
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function space(home: string): DoctorFinding {
  const {bavail, bsize} = statfsSync(home);
  const free = Math.floor((bavail * bsize) / 1024 / 1024);
  return free < 200
    ? {name: 'disk', state: free < 20 ? 'bad' : 'note', message: `${free} MB free`, hint: 'free some space, or: git gc'}
    : {name: 'disk', state: 'ok', message: `${free > 10_240 ? `${Math.floor(free / 1024)} GB` : `${free} MB`} free`};
}

function ignoring(home: string): DoctorFinding {
  const lines = existsSync(join(home, '.gitignore'))
    ? readFileSync(join(home, '.gitignore'), 'utf8').split(/\r?\n/)
    : [];
  const missing = ignoredInHome.filter(line => !lines.includes(line));
  return missing.length === 0
    ? {name: '.gitignore', state: 'ok', message: 'ignores derived files'}
    : {
        name: '.gitignore',
        state: 'note',
        message: `does not list ${missing.join(', ')}`,
        hint: 'agentdir init . adds what is missing',
      };
}

/** Checks the environment of this shell, usually that of the daemon too. */
function shortKeys(home: string): DoctorFinding[] {
  const names = new Set([...providerKeys, ...keyVariables(home)]);
  const short = [...names].filter(name => {
    const length = process.env[name]?.trim().length ?? 0;
    return length > 0 && length < SHORTEST_KEY;
  });
  return short.map(name => ({
    name: 'keys',
    state: 'note',
    message: `${name} has fewer than ${SHORTEST_KEY} characters, so it is not redacted`,
    hint: 'if it is a real key, use a longer one (docs/secrets.md)',
  }));
}

/** Whether required signatures can be checked. */
async function signers(home: string): Promise<DoctorFinding[]> {
  const read = readHomeFile(nodeDisk(home), MARKER);
  const setting = read && 'text' in read ? parseSettings(read.text).value?.approvals?.signers : undefined;
  if (setting === undefined || setting === null) return [];
  const [{signersPath, readSigners}, {sshKeygen}] = await Promise.all([
    import('../../effects/signature/signers-file.ts'),
    import('../../effects/signature/ssh-keygen.ts'),
  ]);
  const file = signersPath(home, setting);
  const found = 'problem' in file ? file : readSigners(file.path);
  const program = await sshKeygen(['-Y', 'find-principals'], '', 5_000);
  const problem = 'problem' in program ? program.problem : 'problem' in found ? found.problem : undefined;
  if (problem === undefined)
    return [{name: 'signers', state: 'ok', message: `approvals must be signed by a key in ${setting}`}];
  return [
    {name: 'signers', state: 'bad', message: `${problem}; no approval counts`, hint: 'docs/approvals.md, "Signing"'},
  ];
}

/** How memory and processes of commands are limited here. */
function limitWords(): string {
  const controls = groupControls();
  if (controls.size === 2) return 'memory and processes limited by control groups';
  const root = process.getuid?.() === 0 && !controls.has('pids') ? ' (processes of root are not limited)' : '';
  return `memory and processes limited for each process, without control groups${root}`;
}

async function sandbox(home: string): Promise<DoctorFinding> {
  const found = await makeSandbox(home).state();
  if (found.state === 'works')
    return {name: 'sandbox', state: 'ok', message: `bubblewrap ${found.version}; self-test passed; ${limitWords()}`};
  return {
    name: 'sandbox',
    state: found.state === 'missing' ? 'note' : 'bad',
    message:
      found.state === 'untested'
        ? `${found.why}; commands wait until it is tested`
        : `none: ${found.why}; allowed commands run unconfined, others need approval; with sandbox: require nothing runs`,
    hint: found.hint,
  };
}
