/** An argument that makes a command do more than read. */
export interface RiskyUse {
  /** Where it stands in argv. */
  index: number;
  /** The option as far as a rule must spell it, or the whole argument. */
  flag: string;
  reason: string;
}

/**
 * What a command's arguments can make it do beyond reading. Lists are words separated by spaces: `-o` counts among
 * letters run together too, `=-c` only as a word of its own, `--output` in every abbreviation.
 */
export interface Uses {
  /** Options are whole words (`find -exec`), never letters run together. */
  whole?: true;
  /** Options that run other programs or load code or settings. */
  runs?: string;
  /** Options that write or delete files, or change something. */
  writes?: string;
  /** Options that send data away, or talk to another machine. */
  sends?: string;
  /** Operands from this one on (1 is the first) do more than name what is read. */
  operands?: {from: number; why: string; unless?: RegExp; unlessOption?: string};
}

const script = {from: 1, why: 'runs a program from a file'};
const writesFile = (from: number) => ({from, why: 'names a file to write'});

/** By command, or by command and subcommand. */
export const flagTable: Readonly<Record<string, Uses>> = {
  find: {whole: true, runs: '-exec -execdir -ok -okdir', writes: '-delete -fprint -fprint0 -fprintf -fls'},
  fd: {runs: '-x -X --exec --exec-batch'},
  sort: {runs: '--compress-program --files0-from', writes: '-o -T --output --temporary-directory'},
  wc: {runs: '--files0-from'},
  du: {runs: '--files0-from'},
  file: {writes: '-C --compile'},
  kill: {whole: true},
  // Without a dash, `e` shows what each process has in its environment.
  ps: {operands: {from: 1, why: 'may show the environment of processes', unless: /^[^e]*$/}},
  shuf: {writes: '-o --output'},
  iconv: {writes: '-o --output'},
  tree: {writes: '-o -R --output'},
  uniq: {operands: writesFile(2)},
  xxd: {writes: '-r', operands: writesFile(2)},
  tee: {operands: writesFile(1)},
  split: {operands: writesFile(1), runs: '--filter'},
  csplit: {operands: writesFile(1)},
  dd: {operands: {...writesFile(1), unless: /^(if|bs|ibs|count|skip|iflag|status|conv)=/}},
  sed: {runs: '-f --file', writes: '-i --in-place'},
  awk: {
    runs: '-f -i -l -E -D --file --include --load --exec --debug',
    writes: '-o -p -d --pretty-print --profile --dump-variables',
  },
  tar: {
    runs: '-I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command',
    writes:
      '-x -c -r -u -A -P --extract --get --create --append --update --catenate --concatenate --delete --remove-files --index-file',
  },
  zip: {runs: '-T -TT --test --unzip-command', operands: writesFile(1)},
  unzip: {operands: {from: 1, why: 'writes what it unpacks', unlessOption: '-l -v -t -Z -p'}},
  gzip: {operands: {from: 1, why: 'replaces the file', unlessOption: '-l -t -c --list --test --stdout'}},
  rg: {runs: '--pre --hostname-bin'},
  ag: {runs: '--pager'},
  ack: {runs: '--pager --output'},
  less: {
    runs: '-k --lesskey',
    writes: '-o -O --log-file',
    operands: {from: 1, why: 'is a command of less', unless: /^[^+]/},
  },
  man: {runs: '-P -H -C --pager --html --config-file'},
  diff: {runs: '-l --paginate'},
  date: {writes: '-s --set', operands: {from: 1, why: 'sets the clock', unless: /^\+/}},
  hostname: {writes: '-F -b --file --boot', operands: {from: 1, why: 'sets the name of the machine'}},
  dmesg: {writes: '-c -C -D -E -n --clear --read-clear --console-off --console-on --console-level'},
  sysctl: {
    writes: '-w -p --write --load --system',
    operands: {from: 1, why: 'sets a value of the kernel', unless: /^[^=]*$/},
  },
  journalctl: {
    writes:
      '--vacuum-size --vacuum-time --vacuum-files --rotate --flush --sync --relinquish-var --setup-keys --update-catalog --cursor-file',
  },
  mount: {operands: {from: 1, why: 'mounts a file system'}},
  ifconfig: {operands: {from: 2, why: 'changes a network interface'}},
  ip: {whole: true, runs: '-b -ba -bat -batc -batch -force', writes: '-n -ne -net -netn -netns'},
  crontab: {writes: '-e -r -i', operands: {from: 1, why: 'replaces the crontab'}},
  curl: {
    runs: '-K -E -x --config --cert --engine --proxy --preproxy --unix-socket --abstract-unix-socket --netrc-file --doh-url --resolve --connect-to',
    writes:
      '-o -O -J -D -c -w --output --output-dir --create-dirs --remote-name --remote-name-all --remote-header-name --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc --write-out',
    sends:
      '-T -d -F -X -Q -u -b -H --upload-file --data --data-ascii --data-binary --data-raw --data-urlencode --url-query --form --form-string --json --request --quote --user --cookie --header --mail-from --telnet-option',
  },
  wget: {
    runs: '-e --execute --use-askpass --config',
    writes:
      '-O -P -o -a -r -m -p -N -x --output-document --directory-prefix --output-file --append-output --recursive --mirror --page-requisites --warc-file --save-cookies --rejected-log --hsts-file',
    sends: '-i --input-file --post-data --post-file --method --body-data --body-file --header --load-cookies',
    operands: {from: 1, why: 'writes what it downloads', unlessOption: '--spider'},
  },
  scp: {runs: '-S -o -F -J -D', operands: {from: 1, why: 'copies files between machines'}},
  sftp: {runs: '-S -o -F -J -D -b', operands: {from: 1, why: 'copies files between machines'}},
  rsync: {
    runs: '-e -M --rsh --rsync-path --remote-option',
    writes:
      '--delete --delete-before --delete-after --delete-during --delete-excluded --remove-source-files --log-file --write-batch',
    operands: {from: 2, why: 'writes to its last operand'},
  },
  git: {
    runs: '=-c --config-env --exec-path --git-dir --work-tree --ext-diff --textconv --upload-pack --receive-pack --exec --open-files-in-pager --extcmd --tool',
    writes: '--output --output-directory',
  },
  'git grep': {runs: '-O'},
  'git archive': {writes: '-o --output', sends: '--remote'},
  'git branch': {
    writes:
      '-d -D -m -M -c -C -f -u -t --delete --move --copy --force --set-upstream-to --unset-upstream --edit-description --track --create-reflog',
    operands: {
      from: 1,
      why: 'makes a branch',
      unlessOption: '-l --list --contains --no-contains --merged --no-merged --points-at',
    },
  },
  'git tag': {
    writes: '-d -a -s -u -f -m -F --delete --annotate --sign --local-user --force --message --file',
    operands: {
      from: 1,
      why: 'makes a tag',
      unlessOption: '-l --list --contains --no-contains --merged --no-merged --points-at',
    },
  },
  'git config': {
    writes: '-e --edit --add --unset --unset-all --replace-all --rename-section --remove-section',
    operands: {from: 2, why: 'sets a value', unlessOption: '--get --get-all --get-regexp --get-urlmatch --list -l'},
  },
  docker: {runs: '--config', sends: '=-H =-c --host --context'},
  kubectl: {runs: '--kubeconfig', sends: '=-s --server --token --as --cluster --context --user --raw'},
  systemctl: {sends: '-H -M --host --machine', runs: '--root --image'},
  npm: {
    runs: '-C -g --prefix --script-shell --node-options --userconfig --globalconfig --global --call',
    sends: '--registry',
  },
  go: {whole: true, runs: '-exec -toolexec -vettool -overlay -modfile', writes: '-o -w -u -mod -C'},
  make: {
    runs: '-f -C -E -I -e --file --makefile --directory --eval --include-dir --environment-overrides',
    operands: {from: 1, why: 'runs recipes'},
  },
  python: {runs: '-c -m -i -x', operands: script},
  perl: {runs: '-e -E -M -m -I -i -n -p -x -d', operands: script},
  ruby: {runs: '-e -r -I -i -n -p -x', operands: script},
  node: {
    runs: '-e -p -r -i --eval --print --require --import --loader --experimental-loader --run --test --inspect --env-file',
    operands: script,
  },
  php: {runs: '-r -f -B -R -F -E -S -d -c -z', operands: script},
  lua: {runs: '-e -l -i', operands: script},
  jq: {runs: '-L -f --from-file --library-path'},
  yq: {writes: '-i -s --inplace --split-exp'},
  openssl: {whole: true, runs: '-engine -provider -config', writes: '-out -keyout -CAcreateserial -writerand'},
  sqlite3: {runs: '-cmd -init', operands: {from: 1, why: 'may write a database or run a program'}},
  psql: {
    runs: '-c -f -v -o -L --command --file --set --variable --output --log-file',
    operands: {from: 2, why: 'logs in as another user'},
  },
  mysql: {runs: '-e --execute --init-command --tee --pager'},
  'redis-cli': {runs: '--eval --pipe --cluster', sends: '-h -u -a --pass --user'},
  java: {whole: true, runs: '-cp -jar -classpath -javaagent -agentlib -agentpath', operands: script},
};

/** Subcommands that only read. A rule must name any other one itself: `git *` does not cover `git push`. */
export const readingSubcommands: Readonly<Record<string, string>> = {
  git: 'status log diff show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file grep name-rev merge-base for-each-ref show-ref show-branch whatchanged cherry range-diff diff-tree diff-files diff-index count-objects check-ignore check-attr var version help branch tag config remote worktree reflog',
  'git remote': 'show get-url',
  'git worktree': 'list',
  'git reflog': 'show exists',
  'git stash': 'list show',
  'git submodule': 'status summary',
  'git notes': 'list show',
  'git bisect': 'log view',
  docker:
    'ps images version info inspect logs top stats port diff history events help container image volume network system compose context',
  'docker container': 'ls list ps inspect logs top stats port diff',
  'docker image': 'ls list inspect history',
  'docker volume': 'ls list inspect',
  'docker network': 'ls list inspect',
  'docker system': 'df info events',
  'docker context': 'ls list show inspect',
  'docker compose': 'ps ls logs config images top version port events',
  kubectl: 'get describe logs top version explain api-resources api-versions cluster-info events config auth',
  'kubectl config': 'view get-contexts current-context get-clusters get-users',
  'kubectl auth': 'can-i whoami',
  systemctl:
    'status show cat is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets list-dependencies list-jobs get-default',
  npm: 'ls list la ll view info show outdated search why explain root prefix bin help',
  pnpm: 'ls list la ll view info outdated why root bin licenses help',
  yarn: 'list info why versions help',
  bun: 'help',
  pip: 'list show freeze check index help',
  cargo: 'metadata tree version search help',
  go: 'version list doc help',
  apt: 'list show search policy',
  'apt-cache': 'search show policy depends rdepends madison',
  brew: 'list info search outdated deps leaves config',
  gh: 'status version help',
  terraform: 'version validate show output providers graph',
  helm: 'list ls status history get show search version',
  'redis-cli': 'ping info dbsize time role get mget exists ttl type strlen llen scard hlen hget hgetall zcard lastsave',
  ip: 'addr address a route r link l neigh rule',
  'ip addr': 'show list ls',
  'ip address': 'show list ls',
  'ip a': 'show list ls',
  'ip route': 'show list ls get',
  'ip r': 'show list ls get',
  'ip link': 'show list ls',
  'ip l': 'show list ls',
  'ip neigh': 'show list ls',
  'ip rule': 'show list ls',
};
