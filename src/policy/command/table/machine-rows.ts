import type {CommandRow} from './row.ts';

const info = '--help --version';
/** Only these options, which show the version or the help. */
const shows = (options: string): CommandRow => ({options, needs: options});
const version = shows('-v --version -h --help');

/** Commands that show the machine, the user and the time. */
export const machineRows: Readonly<Record<string, CommandRow>> = {
  pwd: {options: `-L -P --logical --physical ${info}`},
  true: {operands: ''},
  false: {operands: ''},
  date: {
    options: `-u -R -d=date -r=file -I=? --date=date --debug --iso-8601=? --rfc-email --rfc-3339= --reference=file --utc --universal
      ${info}`,
    // An operand without + sets the clock.
    operands: 'format?',
  },
  cal: {
    options: '-1 -3 -s -m -j -y -Y -w=? -n= --one --three --sunday --monday --julian --year --months= --help --version',
    operands: 'text*',
  },
  sleep: {options: info, operands: 'text*'},
  uname: {
    options: `-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine
      --processor --hardware-platform --operating-system ${info}`,
  },
  arch: {options: info},
  nproc: {options: `--all --ignore= ${info}`},
  getconf: {options: '-a', operands: 'text text?'},
  hostname: {options: '-s -I -h -V --short --all-ip-addresses', machine: true},
  whoami: {options: info},
  id: {
    options: `-a -g -G -n -r -u -z --group --groups --name --real --user --zero ${info}`,
    operands: 'text*',
    machine: true,
  },
  groups: {options: info, operands: 'text*', machine: true},
  logname: {options: info, machine: true},
  users: {options: info, machine: true},
  who: {options: `-a -b -d -H -l -m -p -q -r -s -t -T -u -w --all --boot --count --heading ${info}`, machine: true},
  w: {options: '-h -u -s -f -i -o -V --no-header --short --help --version', operands: 'text?', machine: true},
  last: {options: '-a -F -i -n= -# -R -w -x --limit= --fulltimes --hostlast', operands: 'text*', machine: true},
  tty: {options: `-s --silent --quiet ${info}`, machine: true},
  uptime: {options: '-p -s -h -V --pretty --since --help --version', machine: true},
  free: {
    options:
      '-b -k -m -g -h -l -t -v -w -L -V -c= -s= --bytes --kibi --mebi --gibi --human --lohi --total --wide --help --version --count= --seconds=',
    machine: true,
  },
  df: {
    options: `-a -h -H -i -k -l -P -T -B= -t= -x= --all --block-size= --human-readable --si --inodes --local --no-sync
      --output=? --portability --total --type= --print-type --exclude-type= ${info}`,
    operands: 'file*',
    machine: true,
  },
  lsblk: {
    options: '-a -b -d -f -i -J -l -m -n -o= -O -p -P -r -S -t -e= -I= --json --bytes --fs --help --version',
    operands: 'text*',
    machine: true,
  },
  lscpu: {options: '-a -b -c -e=? -J -p=? -x --all --json --extended=? --parse=? --help --version', machine: true},
  lsmem: {options: '-a -b -J -n -o= -P -r -S= --json --help --version', machine: true},
  findmnt: {
    options: '-l -a -A -b -D -J -k -n -o= -O= -P -r -t= -T=file --json --list --help --version',
    operands: 'text*',
    machine: true,
  },
  // Letters without a dash are options; `e` among them shows the environment of processes. Letters that conflict, as in -eTH, are
  // read again as if they had no dash.
  ps: {
    options: `-A -a -e -f -F -j -l -w -p=numbers -o=pscolumns --pid=numbers --ppid=numbers --sort=
      --forest --no-headers --no-heading --headers --cols= --columns= --rows= --lines= --width= --format=pscolumns --deselect
      --help=? --version`,
    operands: 'psletters?',
    machine: true,
  },
  pgrep: {
    options:
      '-a -c -f -i -l -n -o -v -x -d= -g= -G= -P= -s= -t= -u= -U= --list-full --list-name --count --full --newest --oldest --exact --help --version',
    operands: 'pattern?',
    machine: true,
  },
  pidof: {options: '-c -q -s -x', operands: 'text*', machine: true},
  pstree: {options: '-a -A -c -g -h -H= -l -n -p -s -S -t -T -u -U -V', operands: 'text?', machine: true},
  ss: {
    options:
      '-a -l -n -o -e -m -p -i -s -t -u -w -x -4 -6 -H -O -h -V --all --listening --numeric --processes --tcp --udp --unix --summary',
    operands: 'socketfilter*',
    machine: true,
  },
  // Without -n it asks name servers.
  netstat: {options: '-a -l -n -o -e -p -r -s -t -u -w -x -i -g -v -W -4 -6', needs: '-n', machine: true},
  vmstat: {options: '-a -d -D -f -m -n -s -t -w -S= -V', operands: 'text*', machine: true},
  which: {options: '-a -s', operands: 'text*', machine: true},
  whereis: {options: '-b -m -s -u -l', operands: 'text*', machine: true},
  env: {
    wraps: {
      valued: '-u -C -a --unset --chdir --argv0',
      plain: 'i0v',
      switches:
        '--ignore-environment --null --debug --block-signal --default-signal --ignore-signal --list-signal-handling',
      strings: '-S --split-string',
      assignments: true,
      bare: true,
    },
    enters: '-C --chdir',
    options: '-0 --null',
    machine: true,
  },
  printenv: {options: `-0 --null ${info}`, operands: 'text*', machine: true},
  locale: {options: '-a -m -c -k -v --all-locales --charmaps', operands: 'text*', machine: true},
  getent: {options: '-i', operands: 'database text*', machine: true},
  dpkg: {
    options:
      '-l -L -s -S -p --list --listfiles --status --search --print-avail --version --get-selections --print-architecture',
    needs:
      '-l -L -s -S -p --list --listfiles --status --search --print-avail --version --get-selections --print-architecture',
    operands: 'pattern*',
    machine: true,
  },
  'dpkg-query': {
    options: '-l -L -s -S -W -f= --list --listfiles --status --search --show --showformat=',
    operands: 'pattern*',
    machine: true,
  },
  'apt-cache': {
    subcommands: Object.fromEntries(
      'search show policy depends rdepends madison showpkg stats'
        .split(' ')
        .map(name => [name, {options: '-q -n -f -a -i', operands: 'pattern*'}]),
    ),
    machine: true,
  },
  journalctl: {
    options: `-a -b=? -e -f -k -l -m -q -r -x -n= -o= -p= -t= -u= -S= -U= -g=pattern -N -F= --all --boot=? --no-pager --dmesg --full
      --merge --quiet --reverse --catalog --lines= --output= --priority= --identifier= --unit= --user-unit= --since=
      --until= --grep=pattern --list-boots --disk-usage --fields --field= --follow --no-tail --utc --user --system
      --no-hostname --help --version`,
    operands: 'text*',
    service: true,
  },
  systemctl: {
    risk: 'controls',
    options: '--no-pager -l --full -a --all --user --system -q --quiet --no-legend --plain --version --help',
    subcommands: Object.fromEntries(
      'status show cat is-active is-enabled is-failed is-system-running list-units list-unit-files list-timers list-sockets list-dependencies list-jobs get-default'
        .split(' ')
        .map(name => [
          name,
          {
            options:
              '--no-pager -l --full -a --all --user --system -q --quiet --no-legend --plain -n= --lines= -o= --output= -t= --type= --state= -p= --property= --value --failed --reverse',
            operands: 'text*',
          } satisfies CommandRow,
        ]),
    ),
    service: true,
  },
  nm: {
    options:
      '-a -A -C -D -g -n -o -p -r -S -u --demangle=? --defined-only --dynamic --extern-only --undefined-only --help --version',
    operands: 'file*',
    optionFiles: true,
  },
  size: {options: '-A -B -d -o -x -t --format= --help --version', operands: 'file*', optionFiles: true},
  readelf: {
    options:
      '-a -h -l -S -g -t -e -s -n -r -u -d -V -A -W -x= -p= --all --file-header --program-headers --sections --symbols --syms --notes --relocs --dynamic --wide --help --version',
    operands: 'file*',
    optionFiles: true,
  },
  // Programs that run code: only their version and help. Not yarn, cargo or go: files of the workspace may choose another
  // program to answer.
  node: {
    ...version,
    interprets: {code: /^(?:-e|-p|-pe|--eval|--print)$/},
    loads: '-r --require --import --loader --experimental-loader --env-file',
  },
  perl: {...shows('-v -V --version -h --help'), interprets: {code: /^(?:-[A-Za-z]*[eE]|--eval)$/}},
  ruby: {...version, interprets: {code: /^(?:-[A-Za-z]*[eE]|--eval)$/}, loads: '-r'},
  php: {...version, interprets: {code: /^-[rBRE]$/}, loads: '-f -c'},
  lua: {...shows('-v'), interprets: {code: /^(?:-[A-Za-z]*[eE]|--eval)$/}, loads: '-l'},
  // With -v they start the compiler to ask for its version too.
  gcc: shows('--version'),
  'g++': shows('--version'),
  clang: shows('--version'),
  make: {
    ...version,
    loads: '-f -I --file --makefile',
    enters: '-C --directory',
    reads: 'GNUmakefile makefile Makefile',
    builds: true,
    risk: 'writes',
  },
  cmake: {...shows('--version -h --help'), loads: '-P -C -S --preset', reads: 'CMakeLists.txt', builds: true},
  python: {...shows('-V --version -h --help'), interprets: {code: /^-[A-Za-z]*c$/}},
  java: {
    interprets: {},
    style: 'words',
    options: '-version --version -help --help',
    needs: '-version --version -help --help',
  },
  agentdir: {options: '--version --help', needs: '--version --help'},
};
