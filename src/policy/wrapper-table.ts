/** A command that runs the words after its own options. Lists are separated by spaces. */
export interface Runner {
  /** Options whose value is the next word. */
  valued?: string;
  /** Letters of options that take no value. */
  plain?: string;
  /** Options whose value a shell reads. */
  strings?: string;
  /** Operands of its own before the command. */
  operands?: number;
  /** `NAME=value` may come before the command. */
  assignments?: true;
  /** The words are joined and read by a shell. */
  joined?: true;
  /** Without a command it only prints. */
  bare?: true;
}

export const runners: Readonly<Record<string, Runner>> = {
  env: {
    valued: '-u -C -a --unset --chdir --argv0',
    plain: 'i0v',
    strings: '-S --split-string',
    assignments: true,
    bare: true,
  },
  xargs: {
    valued: '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars',
    plain: '0rtpxoeil',
  },
  nice: {valued: '-n --adjustment', plain: '0123456789', bare: true},
  ionice: {valued: '-c -n -p -P -u --class --classdata', plain: 't', bare: true},
  timeout: {valued: '-k -s --kill-after --signal', plain: 'fpv', operands: 1},
  nohup: {},
  setsid: {plain: 'cfw'},
  sudo: {
    valued:
      '-u -g -p -h -C -T -r -t -D -R -U --user --group --prompt --host --close-from --chdir --chroot --role --type --other-user',
    plain: 'nEHiskbSAKlvVeP',
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
  runuser: {valued: '-u -g -G -s -w', plain: 'lmp', strings: '-c --command'},
  exec: {valued: '-a', plain: 'cl'},
  command: {plain: 'pvV'},
  builtin: {},
  stdbuf: {valued: '-i -o -e --input --output --error'},
  time: {valued: '-f -o --format --output', plain: 'apvqV'},
  watch: {valued: '-n -q --interval --equexit', plain: 'bcdegprtxw', joined: true},
  parallel: {valued: '-j -a -I -n -N -L -S -X -d --jobs --arg-file --sshlogin --colsep', plain: 'kmqtv0', joined: true},
  chroot: {operands: 1},
  ssh: {
    valued: '-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w',
    plain: '46AaCfGgKkMNnqsTtVvXxYy',
    operands: 1,
    joined: true,
  },
  busybox: {bare: true},
  unshare: {valued: '-R -w -S -G --root --wd --setuid --setgid', plain: 'imnpuUCTfrc'},
  nsenter: {valued: '-t -S -G --target --setuid --setgid', plain: 'amuinpUCTrwFZ'},
  flock: {valued: '-w -E --timeout --conflict-exit-code', plain: 'sxeunoFv', strings: '-c --command', operands: 1},
  taskset: {plain: 'apc', operands: 1},
  chrt: {valued: '-T -P -D', plain: 'abfiordpmRv', operands: 1},
  strace: {valued: '-a -b -e -E -I -o -O -p -P -s -S -u -U -X', plain: 'cCdfFhikKnqrtTvVwxyYzZ'},
  ltrace: {valued: '-a -A -D -e -F -l -n -o -p -s -u -w -x', plain: 'bcCfhiLrStTV'},
  script: {valued: '-I -O -B -T -E -m -o', plain: 'aefqt', strings: '-c --command'},
  'systemd-run': {valued: '-u -p -H -M -E --unit --property --host --machine --setenv', plain: 'dGPqrtS'},
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
  npx: {valued: '-p -w --package --workspace', plain: 'yqn', strings: '-c --call'},
  screen: {valued: '-c -e -h -p -s -S -t -T', plain: 'aAdDfilLmOqrRUvwxX', joined: true},
  expect: {valued: '-f', plain: 'bdDinNvV', strings: '-c'},
  gdb: {valued: '-ex -x -p'},
  valgrind: {},
};

/** Subcommands that run further words. */
export const subRunners: Readonly<Record<string, Readonly<Record<string, Runner>>>> = {
  docker: {
    exec: {valued: '-e -u -w --env --user --workdir --env-file --detach-keys --index', plain: 'dit', operands: 1},
    run: {
      valued:
        '-a -c -e -h -l -m -p -u -v -w --name --network --net --env --env-file --volume --mount --user --workdir --entrypoint --publish --label --memory --cpus --hostname --platform --pull --restart --add-host --cap-add --cap-drop --device --dns --gpus --ip --log-driver --log-opt --pid --security-opt --shm-size --tmpfs --ulimit --link',
      plain: 'ditPq',
      operands: 1,
    },
  },
  'docker compose': {
    exec: {valued: '-e -u -w --env --user --workdir --index', plain: 'dT', operands: 1},
    run: {valued: '-e -l -p -u -v -w --name --entrypoint --env --user --volume --workdir', plain: 'diPT', operands: 1},
  },
  kubectl: {
    exec: {valued: '-c -f -n --container --filename --namespace', plain: 'itq', operands: 1},
    run: {valued: '-n --image --namespace', plain: 'itq', operands: 1},
  },
  npm: {exec: {valued: '-p -w --package --workspace', plain: 'yq', strings: '-c --call'}},
  pnpm: {exec: {strings: '-c', valued: '-r -C'}, dlx: {}},
  yarn: {exec: {}, dlx: {valued: '-p'}},
  bundle: {exec: {}},
  poetry: {run: {}},
  uv: {run: {valued: '-p --with --python'}},
  conda: {run: {valued: '-n -p'}},
  ip: {exec: {operands: 1}},
  tmux: {
    'new-session': {valued: '-c -e -F -f -n -s -t -x -y', plain: 'AdDEPX', joined: true},
    new: {valued: '-c -e -F -f -n -s -t -x -y', plain: 'AdDEPX', joined: true},
    'new-window': {valued: '-c -e -F -n -t', plain: 'abdkPS', joined: true},
    'split-window': {valued: '-c -e -F -l -t', plain: 'bdfhIvPZ', joined: true},
    'run-shell': {valued: '-c -d -t', plain: 'bC', joined: true},
  },
};

export const shells: ReadonlySet<string> = new Set('sh bash dash zsh ksh mksh ash fish csh tcsh rbash pwsh'.split(' '));

/** Builtins without a program of the same name: nothing can be started for them without a shell. */
export const shellOnly: ReadonlySet<string> = new Set(
  '. source cd pushd popd dirs export declare typeset local readonly unset set shopt alias unalias hash enable umask ulimit wait jobs fg bg disown read mapfile readarray getopts let return exit logout shift times bind complete compgen compopt history fc suspend caller type :'.split(
    ' ',
  ),
);
