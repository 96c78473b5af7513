import {type CommandRow, same} from './row.ts';

/** Commands that run other commands, which their words or input name. Deny rules look through them. */
export const wrapperRows: Readonly<Record<string, CommandRow>> = {
  xargs: {
    wraps: {
      valued: '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var',
      plain: '0rtpxoeil',
      switches:
        '--null --no-run-if-empty --interactive --verbose --exit --open-tty --show-limits --replace --eof --max-lines',
    },
  },
  nice: {wraps: {valued: '-n --adjustment', plain: '0123456789', bare: true}},
  ionice: {wraps: {valued: '-c -n -p -P -u --class --classdata', plain: 't', bare: true}},
  timeout: {
    wraps: {
      valued: '-k -s --kill-after --signal',
      plain: 'fpv',
      switches: '--foreground --preserve-status --verbose',
      operands: 1,
    },
  },
  ...same('nohup builtin dbus-run-session firejail bwrap fakeroot rlwrap torsocks flatpak-spawn spawn valgrind', {
    wraps: {},
  }),
  setsid: {wraps: {plain: 'cfw', switches: '--ctty --fork --wait'}},
  sudo: {
    wraps: {
      valued:
        '-u -g -p -h -C -T -r -t -D -R -U --user --group --prompt --host --close-from --chdir --chroot --role --type --other-user',
      plain: 'nEHiskbSAKlvVeP',
      switches:
        '--askpass --background --preserve-env --edit --login --non-interactive --shell --set-home --stdin --validate --list',
      assignments: true,
    },
    risk: 'machine',
  },
  doas: {wraps: {valued: '-u -C -a', plain: 'nsL'}, risk: 'machine'},
  pkexec: {wraps: {valued: '--user'}, risk: 'machine'},
  su: {
    wraps: {
      valued: '-s -g -G -w --shell --group --supp-group',
      plain: 'lmpP',
      strings: '-c --command --session-command',
      operands: 1,
    },
    risk: 'machine',
  },
  runuser: {
    wraps: {
      valued: '-u -g -G -s -w --user --group --supp-group --shell --whitelist-environment',
      plain: 'flmpP',
      switches: '--login --fast --preserve-environment --pty',
      strings: '-c --command --session-command',
      anywhere: true,
      operands: 1,
      optional: true,
    },
    risk: 'machine',
  },
  exec: {wraps: {valued: '-a', plain: 'cl'}},
  command: {wraps: {plain: 'pvV'}},
  stdbuf: {wraps: {valued: '-i -o -e --input --output --error'}},
  time: {
    wraps: {valued: '-f -o --format --output', plain: 'apvqV', switches: '--append --portability --quiet --verbose'},
  },
  watch: {
    wraps: {
      valued: '-n -q --interval --equexit',
      plain: 'bcdegprtxw',
      switches: '--beep --chgexit --color --differences --errexit --exec --no-title --no-wrap --precise',
      joined: true,
    },
  },
  parallel: {
    wraps: {valued: '-j -a -I -n -N -L -S -X -d --jobs --arg-file --sshlogin --colsep', plain: 'kmqtv0', joined: true},
  },
  chroot: {wraps: {valued: '--userspec --groups', switches: '--skip-chdir', operands: 1}, risk: 'machine'},
  ssh: {
    wraps: {
      valued: '-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w',
      plain: '46AaCfGgKkMNnqsTtVvXxYy',
      operands: 1,
      joined: true,
      reads: true,
    },
    loads: '-F',
    reaches: true,
    runs: '-o',
  },
  busybox: {wraps: {bare: true}},
  unshare: {
    wraps: {
      valued:
        '-R -w -S -G --root --wd --setuid --setgid --propagation --setgroups --map-user --map-group --monotonic --boottime',
      plain: 'imnpuUCTfrc',
      switches:
        '--mount --uts --ipc --net --pid --user --cgroup --time --fork --map-root-user --map-current-user --map-auto --mount-proc --kill-child --keep-caps',
    },
  },
  nsenter: {
    wraps: {
      valued: '-t -S -G --target --setuid --setgid',
      plain: 'amuinpUCTrwFZ',
      switches:
        '--all --mount --uts --ipc --net --pid --user --cgroup --time --root --wd --preserve-credentials --no-fork --follow-context',
    },
  },
  flock: {
    wraps: {
      valued: '-w -E --timeout --conflict-exit-code',
      plain: 'sxeunoFv',
      switches: '--shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose',
      strings: '-c --command',
      operands: 1,
    },
  },
  taskset: {wraps: {plain: 'apc', operands: 1}},
  chrt: {wraps: {valued: '-T -P -D', plain: 'abfiordpmRv', operands: 1}},
  strace: {wraps: {valued: '-a -b -e -E -I -o -O -p -P -s -S -u -U -X', plain: 'cCdfFhikKnqrtTvVwxyYzZ'}},
  ltrace: {wraps: {valued: '-a -A -D -e -F -l -n -o -p -s -u -w -x', plain: 'bcCfhiLrStTV'}},
  script: {
    wraps: {
      valued: '-I -O -B -T -E -m -o',
      plain: 'aefqt',
      switches: '--append --return --flush --force --quiet',
      strings: '-c --command',
      anywhere: true,
      operands: 1,
      optional: true,
    },
  },
  'systemd-run': {
    wraps: {
      valued:
        '-u -p -H -M -E --unit --property --host --machine --setenv --uid --gid --nice --working-directory --slice --description --service-type --on-active --on-boot --on-calendar',
      plain: 'dGPqrtS',
      switches:
        '--user --system --pty --pipe --quiet --wait --scope --collect --shell --no-block --remain-after-exit --same-dir',
    },
  },
  'start-stop-daemon': {wraps: {valued: '-a -x -n -p -u -c -g -d -s', plain: 'SKbmqtv'}},
  caffeinate: {wraps: {valued: '-t -w', plain: 'disum'}},
  unbuffer: {wraps: {plain: 'p'}},
  proxychains: {wraps: {valued: '-f', plain: 'q'}},
  entr: {wraps: {plain: 'acdnprsxz'}},
  npx: {
    wraps: {
      valued: '-p -w --package --workspace',
      plain: 'yqn',
      switches: '--yes --no --no-install --quiet --ignore-existing',
      strings: '-c --call',
    },
    reads: 'package.json .npmrc',
    reaches: true,
    builds: true,
  },
  ...same(
    'setarch linux32 linux64 uname26 i386 i486 i586 i686 x86_64 ppc ppc32 ppc64 s390 s390x arm armv7l armv8l aarch64',
    {wraps: {plain: 'BFILRSTXZv3'}},
  ),
  setpriv: {
    wraps: {
      valued:
        '--ruid --euid --reuid --rgid --egid --regid --groups --bounding-set --inh-caps --ambient-caps --securebits --pdeathsig',
      plain: 'd',
      switches: '--dump --clear-groups --keep-groups --init-groups --no-new-privs --nnp --reset-env',
    },
  },
  prlimit: {wraps: {valued: '-p -o --pid --output', plain: 'r', switches: '--raw --verbose --noheadings'}},
  numactl: {
    wraps: {valued: '-i -N -m -C -p --interleave --cpunodebind --membind --physcpubind --preferred', plain: 'als'},
  },
  'ld.so': {
    wraps: {
      valued: '--library-path --preload --audit --argv0 --inhibit-rpath --glibc-hwcaps-prepend --glibc-hwcaps-mask',
      switches: '--list --verify --inhibit-cache',
    },
  },
  sg: {wraps: {strings: '-c', operands: 1, joined: true}},
  sshpass: {wraps: {valued: '-f -d -p -P', plain: 'ehv'}},
  gosu: {wraps: {operands: 1}},
  'su-exec': {wraps: {operands: 1}},
  setuidgid: {wraps: {operands: 1}},
  run0: {wraps: {valued: '-u -g -D -p --user --group --unit --property --chdir --setenv --slice --nice --background'}},
  mosh: {wraps: {operands: 1, joined: true}, reaches: true},
  pdsh: {wraps: {valued: '-w -x -f -u -t -l', joined: true}},
  cgexec: {wraps: {valued: '-g'}},
  'aa-exec': {wraps: {valued: '-p -n'}},
  runcon: {wraps: {valued: '-t -u -r -l', plain: 'c', operands: 1}},
  cpulimit: {wraps: {valued: '-l -p -e', plain: 'fivz'}},
  faketime: {wraps: {plain: 'fmp', operands: 1}},
  tini: {wraps: {valued: '-p -e', plain: 'gsvw'}},
  'dumb-init': {wraps: {plain: 'cv'}},
  chronic: {wraps: {plain: 'ev'}},
  'nix-shell': {wraps: {valued: '-p -A -I', strings: '--run --command', anywhere: true}},
  nodemon: {
    wraps: {
      valued: '-w -e -i -d -s --watch --ext --ignore --delay --signal --config --cwd',
      plain: 'CILNqVv',
      strings: '-x --exec',
      anywhere: true,
    },
  },
  'ssh-agent': {wraps: {valued: '-a -E -O -P -t', plain: 'cDdks'}},
  'xvfb-run': {
    wraps: {
      valued: '-e -f -n -p -s -w --error-file --auth-file --server-num --xauth-protocol --server-args --wait',
      plain: 'ahl',
      switches: '--auto-servernum --auto-display --listen-tcp --help',
    },
  },
  'systemd-cat': {wraps: {valued: '-t -p --identifier --priority --stderr-priority --level-prefix --namespace'}},
  'systemd-inhibit': {wraps: {valued: '--what --who --why --mode', switches: '--list --no-pager --no-legend'}},
  'dbus-launch': {
    wraps: {
      valued: '--autolaunch --config-file',
      switches:
        '--sh-syntax --csh-syntax --auto-syntax --binary-syntax --exit-with-session --exit-with-x11 --close-stderr',
    },
  },
  screen: {wraps: {valued: '-c -e -h -p -s -S -t -T', plain: 'aAdDfilLmOqrRUvwxX', joined: true}},
  expect: {wraps: {valued: '-f', plain: 'bdDinNvV', strings: '-c'}, interprets: {code: /^-c$/}, loads: '-f'},
  gdb: {wraps: {valued: '-ex -x -p'}, loads: '-x'},
  bash: {loads: '--rcfile --init-file', shell: true},
  hyperfine: {runsWords: true},
  concurrently: {runsWords: true},
  ...same('sh dash zsh ksh mksh ash fish csh tcsh rbash pwsh yash osh nu elvish xonsh hush', {shell: true}),
};
