/** An argument that makes a command do more than read. */
export interface RiskyUse {
  index: number;
  /** The part of the option that a rule must spell out, or the whole argument. */
  flag: string;
  reason: string;
}

/**
 * Arguments that make a command do more than read. Lists are separated by spaces: `-o` also matches in
 * combined letters, `=-c` only as a separate word, `--output` in every abbreviation.
 */
export interface Uses {
  /** Options are whole words (`find -exec`), never combined letters. */
  whole?: true;
  /** Options that run programs or load code or settings. */
  runs?: string;
  /** Options that write or delete files, or change something else. */
  writes?: string;
  /** Options that send data or contact another machine. */
  sends?: string;
  /** For commands with subcommands: the only harmless options before the subcommand. */
  globals?: string;
  /** Operands from this position on (1 is the first) do more than name input. */
  operands?: {
    from: number;
    why: string;
    unless?: RegExp;
    /** One of these options makes the operands harmless if it comes first, apart from options in `past`. */
    unlessOption?: string;
    past?: string;
  };
  /** Why the command does more than read even without operands. */
  bare?: string;
}

const script = {operands: {from: 1, why: 'runs a program from a file'}, bare: 'runs the program that it reads'};
const reads = 'runs the commands that it reads';
const writesFile = (from: number) => ({from, why: 'names a file to write'});

// Lists of files count as running: the line no longer shows what is read.
const sums = {runs: '-c --check --files0-from'};

/** By command, or command and subcommand. */
export const flagTable: Readonly<Record<string, Uses>> = {
  find: {whole: true, runs: '-exec -execdir -ok -okdir -files0-from', writes: '-delete -fprint -fprint0 -fprintf -fls'},
  fd: {runs: '-x -X --exec --exec-batch'},
  sort: {runs: '--compress-program --files0-from', writes: '-o -T --output --temporary-directory'},
  wc: {runs: '--files0-from'},
  du: {runs: '--files0-from'},
  file: {
    runs: '-f -m -z -Z -S --files-from --magic-file --uncompress --uncompress-noreport --no-sandbox',
    writes: '-C -p --compile --preserve-date',
  },
  sha256sum: sums,
  sha1sum: sums,
  sha512sum: sums,
  md5sum: sums,
  b2sum: sums,
  cksum: sums,
  kill: {whole: true},
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
  rg: {runs: '-z --pre --hostname-bin --search-zip'},
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
  // The shell's builtin printf sets a variable with -v.
  printf: {writes: '-v'},
  // A shell evaluates the subscript of a[x], which may run commands.
  test: {runs: '-v -R', whole: true},
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
  crontab: {
    writes: '-e -r -i',
    operands: {from: 1, why: 'replaces the crontab'},
    bare: 'replaces the crontab by what it reads',
  },
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
    runs: '=-c --config-env --exec-path --git-dir --work-tree --ext-diff --textconv --upload-pack --receive-pack --exec --open-files-in-pager --extcmd --tool --show-signature --recurse-submodules --submodule --help',
    writes: '--output --output-directory',
    globals:
      '--no-pager --no-optional-locks --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --version --help -P -v -h',
  },
  'git grep': {runs: '-O'},
  'git cat-file': {runs: '--filters'},
  'git archive': {writes: '-o --output', sends: '--remote'},
  'git branch': {
    writes:
      '-d -D -m -M -c -C -f -u -t --delete --move --copy --force --set-upstream-to --unset-upstream --edit-description --track --create-reflog --no-list --no-points-at',
    operands: {
      from: 1,
      why: 'makes a branch',
      past: '-a -r -v -vv -i -q',
      unlessOption: '-l --list --contains --no-contains --merged --no-merged --points-at',
    },
  },
  'git tag': {
    runs: '-v -e --verify --edit',
    writes:
      '-d -a -s -u -f -m -F --delete --annotate --sign --local-user --force --message --file --create-reflog --no-list --no-points-at',
    operands: {
      from: 1,
      why: 'makes a tag',
      past: '-i -n',
      unlessOption: '-l --list --contains --no-contains --merged --no-merged --points-at',
    },
  },
  'git config': {
    writes: '-e --edit --add --unset --unset-all --replace-all --rename-section --remove-section',
    operands: {
      from: 2,
      why: 'sets a value',
      unlessOption: '--get --get-all --get-regexp --get-urlmatch --list -l',
      past: '--global --local --system --worktree',
    },
  },
  docker: {runs: '--config', sends: '=-H =-c --host --context', globals: '-D --debug --version --help -v'},
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
    bare: 'runs recipes of the Makefile',
  },
  vim: {runs: '-c -S -s -u -U -i -w -W --cmd', operands: {from: 1, why: 'edits a file'}},
  ed: {operands: {from: 1, why: 'edits a file'}, bare: 'runs the commands that it reads'},
  emacs: {
    whole: true,
    runs: '-f -l --eval --load --script --funcall --batch',
    operands: {from: 1, why: 'edits a file'},
  },
  python: {runs: '-c -m -i -x', ...script},
  perl: {runs: '-e -E -M -m -I -i -n -p -x -d', ...script},
  ruby: {runs: '-e -r -I -i -n -p -x', ...script},
  node: {
    runs: '-e -p -r -i --eval --print --require --import --loader --experimental-loader --run --test --inspect --env-file',
    ...script,
  },
  php: {runs: '-r -f -B -R -F -E -S -d -c -z', ...script},
  lua: {runs: '-e -l -i', ...script},
  jq: {runs: '-L -f --from-file --library-path'},
  yq: {writes: '-i -s --inplace --split-exp'},
  openssl: {whole: true, runs: '-engine -provider -config', writes: '-out -keyout -CAcreateserial -writerand'},
  sqlite3: {runs: '-cmd -init', operands: {from: 1, why: 'may write a database or run a program'}, bare: reads},
  psql: {
    runs: '-c -f -v -o -L --command --file --set --variable --output --log-file',
    operands: {from: 2, why: 'logs in as another user'},
    bare: reads,
  },
  mysql: {runs: '-e --execute --init-command --tee --pager', bare: reads},
  'redis-cli': {runs: '-x --eval --pipe --cluster', sends: '-h -u -a --pass --user', bare: reads},
  deno: script,
  tsx: script,
  'ts-node': script,
  julia: script,
  Rscript: script,
  guile: script,
  tclsh: script,
  groovy: script,
  elixir: script,
  irb: script,
  ipython: script,
  osascript: script,
  java: {whole: true, runs: '-cp -jar -classpath -javaagent -agentlib -agentpath', ...script},
};
