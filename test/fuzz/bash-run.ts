import {spawnSync} from 'node:child_process';
import {chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {programs} from './generous.ts';

/** What bash did with a line. */
export interface Ran {
  /** The words of each command, builtins and what wrappers run included, in the order in which they began. */
  commands: string[][];
  /** Commands by bash's own count: also assignments, tests and the like, which have no words. */
  count: number;
  /** It started something that it did not wait for. */
  background: boolean;
  /** Something was left in the working directory. */
  wrote: boolean;
}

/**
 * No program can be found, so bash hands every command to a function that reports its words; every builtin is hidden by
 * a function that reports and then does what the builtin does. Wrappers run what they would. The status of a command
 * follows from its name (`fails`), so that && and || are seen to work. NUL ends a line on the way in, and each
 * field on the way out: `count words…` for a command, then `end count job files`.
 */
const reporter = String.raw`
PATH=/nonexistent
exec 3>&1 1>/dev/null 2>/dev/null
shopt -s nullglob dotglob
__report() { builtin printf '%s\0' "$#" "$@" >&3; }
__fails() { [[ $1 == false || $1 == *1 ]]; }
__env() {
  while (( $# )); do
    case $1 in
      -S) builtin eval -- "$2"; builtin return;;
      -[nuCkc]) builtin shift 2 || builtin return;;
      -*|*=*|[0-9]*) builtin shift;;
      *) "$@"; builtin return;;
    esac
  done
}
command_not_found_handle() {
  __report "$@"
  case $1 in
    env|nice|nohup|setsid|xargs|stdbuf|sudo|timeout|busybox) __env "\${@:2}";;
    sh|bash|dash|zsh) [[ $2 == -*c* ]] && builtin eval -- "$3";;
    find) while (( $# )); do [[ $1 == -exec || $1 == -ok ]] && { builtin shift; "$@"; builtin break; }; builtin shift; done;;
  esac
  ! __fails "$1"
}
for __name in $(compgen -b); do
  case $__name in
    builtin) builtin continue;;
    # Signals would reach the reporter itself.
    kill) __run=: __more=;;
    printf) __run=printf __more='[[ $1 != -v* ]] || __report sets a variable;';;
    echo|true|false|test|'['|pwd) __run=$__name __more=;;
    # There is no program of that name: to allow it says nothing.
    *) __run=$__name __more='__report acts on the shell itself;';;
  esac
  builtin eval "function $__name { __report $__name \"\$@\"; $__more builtin $__run \"\$@\"; ! __fails $__name; }"
done
# Found at once, without a process for each: most of what lines call.
for __name in ${programs.join(' ')}; do
  builtin eval "function $__name { __report $__name \"\$@\"; ! __fails $__name; }"
done
builtin trap '__count+=x' DEBUG
while IFS= builtin read -r -d '' __line; do
  __count=
  builtin eval -- "$__line" </dev/null
  __left=(*)
  builtin printf 'end\0%s\0%s\0%s\0' "\${#__count}" "$!" "\${__left[*]}" >&3
  [[ -z $! && -z \${__left[*]} ]] || builtin exit
done
`.replaceAll('\\${', '${');

/** Of the reporter's own: the eval, the list of files, the printf. */
const OWN = 3;

const script = '#!/bin/bash\nprintf "%s\\0" "$(($# + 1))" "$0" "$@" >&3\n';

export function fails(command: string): boolean {
  return command === 'false' || command.endsWith('1');
}

export interface Bash {
  /** 'bubblewrap', or why not. */
  sandbox: string;
  /** What it did with each line. Shorter than `lines`: the line after the last answer ended bash, or held it up. */
  run: (lines: readonly string[]) => Ran[];
  close: () => void;
}

/** Undefined: there is no bash. */
export function startBash(): Bash | undefined {
  if (spawnSync('bash', ['-c', 'true']).status !== 0) return undefined;
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'agentdir-fuzz-')));
  mkdirSync(join(dir, 'bin'));
  mkdirSync(join(dir, 'cwd'));
  writeFileSync(join(dir, 'bin/c'), script);
  chmodSync(join(dir, 'bin/c'), 0o755);
  writeFileSync(join(dir, 'bin/reporter'), reporter);
  const boxed = [...profile(dir), 'bash', '--norc', '--noprofile', '/fuzz/bin/reporter'];
  const hasSandbox = spawnSync('bwrap', boxed, {input: ''}).status === 0;
  const [command, args] = hasSandbox
    ? ['bwrap', boxed]
    : ['bash', ['--norc', '--noprofile', join(dir, 'bin/reporter')]];
  return {
    sandbox: hasSandbox ? 'bubblewrap' : 'no bubblewrap: bash without programs',
    run: lines => {
      // In a sandbox it is empty each time.
      rmSync(join(dir, 'cwd'), {recursive: true});
      mkdirSync(join(dir, 'cwd'));
      const input = lines.map(line => `${line}\0`).join('');
      const options = {
        input,
        cwd: join(dir, 'cwd'),
        env: {},
        maxBuffer: 1 << 29,
        timeout: 30_000 + input.length * 10,
        killSignal: 'SIGKILL',
      } as const;
      return readAnswers(spawnSync(command as string, args as string[], options).stdout?.toString('utf8') ?? '');
    },
    close: () => rmSync(dir, {recursive: true, force: true}),
  };
}

/** No network, nothing of the home, nothing writable but an empty folder in memory. */
function profile(dir: string): string[] {
  return [
    ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--clearenv'],
    ...['--ro-bind', '/usr', '/usr', '--ro-bind', '/bin', '/bin', '--ro-bind', '/lib', '/lib'],
    ...['--ro-bind-try', '/lib64', '/lib64', '--dev', '/dev'],
    ...['--ro-bind', join(dir, 'bin'), '/fuzz/bin', '--tmpfs', '/fuzz/cwd', '--chdir', '/fuzz/cwd', '--'],
  ];
}

function readAnswers(output: string): Ran[] {
  const fields = output.split('\0');
  const answers: Ran[] = [];
  let commands: string[][] = [];
  for (let i = 0; i < fields.length - 1; ) {
    if (fields[i] === 'end') {
      const [count, job, files] = fields.slice(i + 1, i + 4);
      answers.push({commands, count: Number(count) - OWN, background: job !== '', wrote: files !== ''});
      commands = [];
      i += 4;
    } else {
      const count = Number(fields[i]);
      commands.push(fields.slice(i + 1, i + 1 + count));
      i += 1 + count;
    }
  }
  return answers;
}
