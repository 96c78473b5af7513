import type {CommandRow} from './row.ts';

const info = '--help --version';
const ls: CommandRow = {
  options: `-a -A -b -B -c -C -d -D -f -F -g -G -h -H@ -i -k -l -L@ -m -n -N -o -p -q -Q -r -R^ -s -S -t -u -U -v -x -X -Z -1
    -I= -T= -w= --all --almost-all --author --escape --block-size= --ignore-backups --color=? --directory --dired
    --classify=? --file-type --format= --full-time --group-directories-first --no-group --human-readable --si
    --dereference-command-line@ --dereference-command-line-symlink-to-dir@ --dereference@ --hide= --hyperlink=?
    --indicator-style= --inode --ignore= --kibibytes --numeric-uid-gid --literal --hide-control-chars
    --show-control-chars --quote-name --quoting-style= --reverse --recursive^ --size --sort= --time= --time-style=
    --tabsize= --width= --context --zero ${info}`,
  operands: 'file*',
  lists: true,
};
/** Prints or tests with these options, and replaces the file without. With xz and bzip2 a later `-d` would win over `-t`. */
const compressor: CommandRow = {
  guesses: true,
  options: '-l -t -c -k -q -v -h -V --list --test --stdout --to-stdout --keep --quiet --verbose --help --version',
  needs: '-l -t -c --list --test --stdout --to-stdout --help --version -h -V',
  operands: 'file*',
};
/** With `-V` some versions go on, and replace the file. */
const bzip2: CommandRow = {
  guesses: true,
  options: '-t -c -k -q -v -h --test --stdout --keep --quiet --verbose --help',
  needs: '-t -c -h --test --stdout --help',
  operands: 'file*',
};
const toStdout: CommandRow = {guesses: true, options: '-f -q -v -h -V --help --version', operands: 'file*'};

/** Commands about files and folders. */
export const fileRows: Readonly<Record<string, CommandRow>> = {
  ls,
  dir: ls,
  vdir: ls,
  tree: {
    // In `-Lo 2 x` each letter takes a word.
    style: 'apart',
    options: `-a -d -l@ -f -x -L= -P=pattern -I=pattern -q -N -Q -p -u -g -s -h -D -F -r -t -c -U -v -i -A -S -n -C -X -J -H=
      -T= --gitignore --ignore-case --matchdirs --metafirst --prune --noreport --charset= --filelimit= --timefmt=
      --si --du --inodes --device --sort=? --dirsfirst --filesfirst --nolinks --help --version`,
    operands: 'file*',
    walks: true,
  },
  du: {
    options: `-0 -a -b -c -h -H@ -D@ -k -l -L@ -m -P -s -S -x -B= -d= -t= -X=file --null --all --apparent-size --block-size=
      --bytes --total --dereference-args@ --max-depth= --human-readable --inodes --count-links --dereference@
      --no-dereference --separate-dirs --si --summarize --threshold= --time=? --time-style= --exclude-from=file
      --exclude=pattern --one-file-system ${info}`,
    operands: 'file*',
    walks: true,
    lists: true,
  },
  stat: {
    lists: true,
    options: `-L@ -f -t -c= --dereference@ --file-system --cached= --format= --printf= --terse ${info}`,
    operands: 'file*',
  },
  file: {
    options: `-b -E -h -i -k -l -L@ -N -n -0 -r -s -v -d -e= -F= -P= --brief --exclude= --separator= --mime --mime-type
      --mime-encoding --extension --apple --keep-going --dereference@ --no-dereference --no-buffer --no-pad --print0 --raw
      --version --help`,
    operands: 'file*',
  },
  find: {
    style: 'words',
    options: `-H@ -L@ -P -O0 -O1 -O2 -O3 ( ) ! , -a -o -and -or -not -true -false -print -print0 -printf= -ls -prune -quit
      -depth -d -xdev -mount -noleaf -ignore_readdir_race -noignore_readdir_race -daystart -nowarn -warn -follow@
      -maxdepth= -mindepth= -regextype= -name=pattern -iname=pattern -path=pattern -ipath=pattern -wholename=pattern
      -iwholename=pattern -regex=pattern -iregex=pattern -lname=pattern -ilname=pattern -type= -xtype=@ -size=signed
      -mtime=signed -mmin=signed -atime=signed -amin=signed -ctime=signed -cmin=signed -used=signed -newer=file
      -anewer=file -cnewer=file -samefile=file -newermt=date -newerat=date -newerct=date -newermm=file -newerma=file -newermc=file
      -perm=signed -user= -group= -uid=signed -gid=signed -nouser -nogroup -links=signed -inum=signed -empty -executable
      -readable -writable -fstype= -context= --help --version -help -version`,
    spelled: '-fprint=file -fprint0=file -fls=file -files0-from=file',
    operands: 'file*',
    walks: true,
    lists: true,
  },
  fd: {
    options: `-H -I -u -s -i -g -F -a -L@ -p -0 -q -1 -h -V -d= -E=pattern -t= -e= -S= -j= -c= -o= --hidden --no-ignore
      --no-ignore-vcs --no-ignore-parent --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings
      --absolute-path --follow@ --full-path --print0 --max-depth= --min-depth= --exact-depth= --exclude=pattern
      --prune --type= --extension= --size= --changed-within= --changed-before= --owner= --color= --threads= --max-results=
      --quiet --show-errors --base-directory=file --path-separator= --search-path=file --strip-cwd-prefix
      --one-file-system --help --version`,
    operands: 'pattern? file*',
    walks: true,
    lists: true,
  },
  basename: {options: `-a -z -s= --multiple --suffix= --zero ${info}`, operands: 'word*'},
  dirname: {options: `-z --zero ${info}`, operands: 'word*'},
  readlink: {
    options: `-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet
      --silent --verbose --zero ${info}`,
    operands: 'file*',
  },
  realpath: {
    options: `-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet
      --relative-to=file --relative-base=file --strip --no-symlinks --zero ${info}`,
    operands: 'file*',
  },
  namei: {options: '-x -m -o -l -n -v -h -V', operands: 'file*'},
  pathchk: {options: `-p -P --portability ${info}`, operands: 'text*'},
  // A shell evaluates the subscript of -v a[x], which may run commands.
  test: {
    style: 'words',
    options: `( ) ! -a -o -n= -z= -b=file -c=file -d=file -e=file -f=file -g=file -G=file -h=file -k=file -L=file -N=file -O=file
      -p=file -r=file -s=file -S=file -t= -u=file -w=file -x=file -ef=file -nt=file -ot=file -eq=signed -ne=signed
      -lt=signed -le=signed -gt=signed -ge=signed = == != < >`,
    operands: 'text*',
  },
  // Files named by -T may hold options of tar, which may run programs.
  tar: {
    runs: '-I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command',
    long: {x: 'extract', c: 'create', f: 'file', I: 'use-compress-program', P: 'absolute-names'},
    style: 'tar',
    options: `-t -v -z -j -J -a -Z -f=archive -C=file -X=file -w -n -R --list --verbose --gzip --gunzip --ungzip
      --bzip2 --xz --lzma --zstd --lzip --auto-compress --file=archive --directory=file --exclude=pattern
      --exclude-from=file --wildcards --no-wildcards --anchored --no-anchored --ignore-case
      --strip-components= --full-time --utc --numeric-owner
      --block-number --force-local --no-recursion --occurrence=? --totals=? --quoting-style= --help --version`,
    spelled: '-x -c -r -u -A --extract --create --append --update --get',
    needs: '-t --list --help --version',
    operands: 'pattern*',
    // A rule may spell these out: then the operands are files.
    when: {'-c -r -u -A -x --create --append --update --extract --get': 'file*'},
  },
  zipinfo: {
    guesses: true,
    optionsFirst: true,
    style: 'words',
    options: '-1 -2 -s -m -l -v -h -t -T -z -C',
    operands: 'file pattern*',
  },
  unzip: {
    guesses: true,
    optionsFirst: true,
    style: 'words',
    options: '-l -v -t -Z -p -c -q -qq -C -Z1 -lv',
    needs: '-l -v -t -Z -p -c -Z1 -lv',
    operands: 'file pattern*',
  },
  gzip: {...compressor, options: `${compressor.options} -d --decompress`},
  gunzip: compressor,
  bzip2,
  bunzip2: bzip2,
  xz: compressor,
  unxz: compressor,
  zstd: compressor,
  zcat: toStdout,
  bzcat: {...toStdout, options: '-f -q -v -h --help'},
  xzcat: toStdout,
  zstdcat: toStdout,
  // These write, inside the workspace: that is their purpose.
  mkdir: {options: `-p -v --parents --verbose ${info}`, operands: 'file*', changes: true},
  rmdir: {
    risk: 'deletes',
    options: `-p -v --ignore-fail-on-non-empty --parents --verbose ${info}`,
    operands: 'file*',
    changes: true,
  },
  mktemp: {
    options: `-d -u -q --directory --dry-run --quiet --suffix= ${info}`,
    operands: 'file?',
    changes: true,
  },
  touch: {
    options: `-a -c -m -f -h -d=date -t= -r=file --no-create --date=date --no-dereference --reference=file --time= ${info}`,
    operands: 'file*',
    changes: true,
  },
  cp: {
    long: {r: 'recursive', R: 'recursive', f: 'force', a: 'archive'},
    options: `-a -f -i -n -p -P -r -R -d -u -v -T -t=file --archive --force --interactive --no-clobber --preserve=? --recursive
      --update --verbose --no-target-directory --target-directory=file --no-dereference --parents ${info}`,
    operands: 'file*',
    changes: true,
  },
  mv: {
    options: `-f -i -n -u -v -T -t=file --force --interactive --no-clobber --update --verbose --no-target-directory
      --target-directory=file ${info}`,
    operands: 'file*',
    changes: true,
  },
  rm: {
    risk: 'deletes',
    long: {r: 'recursive', R: 'recursive', f: 'force', d: 'dir'},
    options: `-f -i -I -d -v --force --interactive=? --dir --verbose ${info}`,
    operands: 'file*',
    changes: true,
  },
};
