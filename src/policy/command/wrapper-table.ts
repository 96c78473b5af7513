/** Syntax of a command that runs the words after its own options. Lists are separated by spaces. */
export interface WrapperSyntax {
  /** Options whose value is the next word. */
  valued?: string;
  /** Letters of options without a value. */
  plain?: string;
  /** Long options whose value is not the next word. Options in neither list may take one or not. */
  switches?: string;
  /** Options whose value a shell reads. */
  strings?: string;
  /** `strings` options count anywhere, even after operands. */
  anywhere?: true;
  /** Options whose value is the program to which words after the operands are passed; listed in `valued` too. */
  program?: string;
  /** The command begins after the first of these options, wherever it is. */
  before?: string;
  /** Number of its own operands before the command. */
  operands?: number;
  /** These operands may be missing: the command may begin at each. */
  optional?: true;
  /** `NAME=value` may come before the command. */
  assignments?: true;
  /** The words are joined and read by a shell. */
  joined?: true;
  /** Without a command it only prints. */
  bare?: true;
  /** Without a command it runs its input. */
  reads?: true;
}

export const runners: Readonly<Record<string, WrapperSyntax>> = {
  env: {
    valued: '-u -C -a --unset --chdir --argv0',
    plain: 'i0v',
    switches:
      '--ignore-environment --null --debug --block-signal --default-signal --ignore-signal --list-signal-handling',
    strings: '-S --split-string',
    assignments: true,
    bare: true,
  },
  xargs: {
    valued: '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var',
    plain: '0rtpxoeil',
    switches:
      '--null --no-run-if-empty --interactive --verbose --exit --open-tty --show-limits --replace --eof --max-lines',
  },
  nice: {valued: '-n --adjustment', plain: '0123456789', bare: true},
  ionice: {valued: '-c -n -p -P -u --class --classdata', plain: 't', bare: true},
  timeout: {
    valued: '-k -s --kill-after --signal',
    plain: 'fpv',
    switches: '--foreground --preserve-status --verbose',
    operands: 1,
  },
  nohup: {},
  setsid: {plain: 'cfw', switches: '--ctty --fork --wait'},
  sudo: {
    valued:
      '-u -g -p -h -C -T -r -t -D -R -U --user --group --prompt --host --close-from --chdir --chroot --role --type --other-user',
    plain: 'nEHiskbSAKlvVeP',
    switches:
      '--askpass --background --preserve-env --edit --login --non-interactive --shell --set-home --stdin --validate --list',
    assignments: true,
  },
  doas: {valued: '-u -C -a', plain: 'nsL'},
  pkexec: {valued: '--user'},
  su: {
    valued: '-s -g -G -w --shell --group --supp-group',
    plain: 'lmpP',
    strings: '-c --command --session-command',
    operands: 1,
  },
  runuser: {
    valued: '-u -g -G -s -w --user --group --supp-group --shell --whitelist-environment',
    plain: 'flmpP',
    switches: '--login --fast --preserve-environment --pty',
    strings: '-c --command --session-command',
    anywhere: true,
    operands: 1,
    optional: true,
  },
  exec: {valued: '-a', plain: 'cl'},
  command: {plain: 'pvV'},
  builtin: {},
  stdbuf: {valued: '-i -o -e --input --output --error'},
  time: {valued: '-f -o --format --output', plain: 'apvqV', switches: '--append --portability --quiet --verbose'},
  watch: {
    valued: '-n -q --interval --equexit',
    plain: 'bcdegprtxw',
    switches: '--beep --chgexit --color --differences --errexit --exec --no-title --no-wrap --precise',
    joined: true,
  },
  parallel: {valued: '-j -a -I -n -N -L -S -X -d --jobs --arg-file --sshlogin --colsep', plain: 'kmqtv0', joined: true},
  chroot: {valued: '--userspec --groups', switches: '--skip-chdir', operands: 1},
  ssh: {
    valued: '-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w',
    plain: '46AaCfGgKkMNnqsTtVvXxYy',
    operands: 1,
    joined: true,
    reads: true,
  },
  busybox: {bare: true},
  unshare: {
    valued:
      '-R -w -S -G --root --wd --setuid --setgid --propagation --setgroups --map-user --map-group --monotonic --boottime',
    plain: 'imnpuUCTfrc',
    switches:
      '--mount --uts --ipc --net --pid --user --cgroup --time --fork --map-root-user --map-current-user --map-auto --mount-proc --kill-child --keep-caps',
  },
  nsenter: {
    valued: '-t -S -G --target --setuid --setgid',
    plain: 'amuinpUCTrwFZ',
    switches:
      '--all --mount --uts --ipc --net --pid --user --cgroup --time --root --wd --preserve-credentials --no-fork --follow-context',
  },
  flock: {
    valued: '-w -E --timeout --conflict-exit-code',
    plain: 'sxeunoFv',
    switches: '--shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose',
    strings: '-c --command',
    operands: 1,
  },
  taskset: {plain: 'apc', operands: 1},
  chrt: {valued: '-T -P -D', plain: 'abfiordpmRv', operands: 1},
  strace: {valued: '-a -b -e -E -I -o -O -p -P -s -S -u -U -X', plain: 'cCdfFhikKnqrtTvVwxyYzZ'},
  ltrace: {valued: '-a -A -D -e -F -l -n -o -p -s -u -w -x', plain: 'bcCfhiLrStTV'},
  script: {
    valued: '-I -O -B -T -E -m -o',
    plain: 'aefqt',
    switches: '--append --return --flush --force --quiet',
    strings: '-c --command',
    anywhere: true,
    // A file to write; on some systems script takes a command after it.
    operands: 1,
    optional: true,
  },
  'systemd-run': {
    valued:
      '-u -p -H -M -E --unit --property --host --machine --setenv --uid --gid --nice --working-directory --slice --description --service-type --on-active --on-boot --on-calendar',
    plain: 'dGPqrtS',
    switches:
      '--user --system --pty --pipe --quiet --wait --scope --collect --shell --no-block --remain-after-exit --same-dir',
  },
  'start-stop-daemon': {valued: '-a -x -n -p -u -c -g -d -s', plain: 'SKbmqtv'},
  'dbus-run-session': {},
  caffeinate: {valued: '-t -w', plain: 'disum'},
  firejail: {},
  bwrap: {},
  fakeroot: {},
  unbuffer: {plain: 'p'},
  rlwrap: {},
  torsocks: {},
  proxychains: {valued: '-f', plain: 'q'},
  entr: {plain: 'acdnprsxz'},
  npx: {
    valued: '-p -w --package --workspace',
    plain: 'yqn',
    switches: '--yes --no --no-install --quiet --ignore-existing',
    strings: '-c --call',
  },
  ...Object.fromEntries(
    // `setarch ARCH COMMAND` means `ARCH COMMAND`.
    'setarch linux32 linux64 uname26 i386 i486 i586 i686 x86_64 ppc ppc32 ppc64 s390 s390x arm armv7l armv8l aarch64'
      .split(' ')
      .map(name => [name, {plain: 'BFILRSTXZv3'}]),
  ),
  setpriv: {
    valued:
      '--ruid --euid --reuid --rgid --egid --regid --groups --bounding-set --inh-caps --ambient-caps --securebits --pdeathsig',
    plain: 'd',
    switches: '--dump --clear-groups --keep-groups --init-groups --no-new-privs --nnp --reset-env',
  },
  prlimit: {valued: '-p -o --pid --output', plain: 'r', switches: '--raw --verbose --noheadings'},
  numactl: {valued: '-i -N -m -C -p --interleave --cpunodebind --membind --physcpubind --preferred', plain: 'als'},
  'ld.so': {
    valued: '--library-path --preload --audit --argv0 --inhibit-rpath --glibc-hwcaps-prepend --glibc-hwcaps-mask',
    switches: '--list --verify --inhibit-cache',
  },
  sg: {strings: '-c', operands: 1, joined: true},
  sshpass: {valued: '-f -d -p -P', plain: 'ehv'},
  gosu: {operands: 1},
  'su-exec': {operands: 1},
  setuidgid: {operands: 1},
  run0: {valued: '-u -g -D -p --user --group --unit --property --chdir --setenv --slice --nice --background'},
  mosh: {operands: 1, joined: true},
  pdsh: {valued: '-w -x -f -u -t -l', joined: true},
  cgexec: {valued: '-g'},
  'aa-exec': {valued: '-p -n'},
  runcon: {valued: '-t -u -r -l', plain: 'c', operands: 1},
  cpulimit: {valued: '-l -p -e', plain: 'fivz'},
  faketime: {plain: 'fmp', operands: 1},
  tini: {valued: '-p -e', plain: 'gsvw'},
  'dumb-init': {plain: 'cv'},
  chronic: {plain: 'ev'},
  'nix-shell': {valued: '-p -A -I', strings: '--run --command', anywhere: true},
  nodemon: {
    valued: '-w -e -i -d -s --watch --ext --ignore --delay --signal --config --cwd',
    plain: 'CILNqVv',
    strings: '-x --exec',
    anywhere: true,
  },
  'ssh-agent': {valued: '-a -E -O -P -t', plain: 'cDdks'},
  'xvfb-run': {
    valued: '-e -f -n -p -s -w --error-file --auth-file --server-num --xauth-protocol --server-args --wait',
    plain: 'ahl',
    switches: '--auto-servernum --auto-display --listen-tcp --help',
  },
  'systemd-cat': {valued: '-t -p --identifier --priority --stderr-priority --level-prefix --namespace'},
  'systemd-inhibit': {valued: '--what --who --why --mode', switches: '--list --no-pager --no-legend'},
  'dbus-launch': {
    valued: '--autolaunch --config-file',
    switches:
      '--sh-syntax --csh-syntax --auto-syntax --binary-syntax --exit-with-session --exit-with-x11 --close-stderr',
  },
  'flatpak-spawn': {},
  screen: {valued: '-c -e -h -p -s -S -t -T', plain: 'aAdDfilLmOqrRUvwxX', joined: true},
  spawn: {},
  expect: {valued: '-f', plain: 'bdDinNvV', strings: '-c'},
  gdb: {valued: '-ex -x -p'},
  valgrind: {},
};

/** Commands whose words, and values of some options, are lines for a shell. */
export const lineRunners: ReadonlySet<string> = new Set(['hyperfine', 'concurrently']);

export const shells: ReadonlySet<string> = new Set(
  'sh bash dash zsh ksh mksh ash fish csh tcsh rbash pwsh yash osh nu elvish xonsh hush'.split(' '),
);

/** Shell builtins without a program of the same name, which only a shell can run. */
export const shellOnly: ReadonlySet<string> = new Set(
  '. source cd pushd popd dirs export declare typeset local readonly unset set shopt alias unalias hash enable umask ulimit wait jobs fg bg disown read mapfile readarray getopts let return exit logout shift times bind complete compgen compopt history fc suspend caller type break continue help :'.split(
    ' ',
  ),
);
