import type {CommandRow} from './row.ts';

const info = '--help --version';

const checksum: CommandRow = {
  options: `-b -t -z --binary --text --tag --zero ${info}`,
  operands: 'file*',
};
const grep: CommandRow = {
  options: `-E -F -G -P -i -y -v -w -x -c -L -l -o -q -s -b -H -h -n -T -Z -a -I -U -z -r^ -R^@ -#
    -e=pattern -f=file -m= -A= -B= -C=
    --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp=pattern --file=file --ignore-case
    --no-ignore-case --invert-match --word-regexp --line-regexp --count --color=? --colour=? --files-without-match
    --files-with-matches --max-count= --only-matching --quiet --silent --no-messages --byte-offset --with-filename
    --no-filename --label= --line-number --initial-tab --null --after-context= --before-context= --context= --text
    --binary-files= --exclude=pattern --exclude-dir=pattern --exclude-from=file --include=pattern --recursive^
    --dereference-recursive^@ --line-buffered --binary --null-data ${info}`,
  operands: 'pattern file*',
};
const diffCommon = `-q -s -c -u -e -n -y -p -F=pattern -t -T -i -E -Z -b -w -B -I=pattern -a -d -H -N -r^@ -x=pattern -C= -U= -W=
    -S= -# --normal --brief --report-identical-files --context=? --unified=? --ed --rcs --side-by-side --width=
    --left-column --suppress-common-lines --show-c-function --show-function-line=pattern --label= --expand-tabs
    --initial-tab --tabsize= --suppress-blank-empty --ignore-case --ignore-tab-expansion --ignore-trailing-space
    --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines=pattern --text
    --strip-trailing-cr --minimal --horizon-lines= --speed-large-files --color=? --palette= --recursive^@
    --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case
    --exclude=pattern --exclude-from=file --starting-file= --from-file=file --to-file=file --line-format=
    --old-line-format= --new-line-format= --unchanged-line-format= --ifdef=`;
const awk: CommandRow = {
  interprets: {onlyOptions: true},
  loads: '-f -i -E --file --include --exec',
  // Not --field-separator and --assign: some awks ignore them, and take their value for the program.
  options: '-F=word -v=awkvalue --posix --re-interval --version --help',
  optionsFirst: true,
  operands: 'awk awkfile*',
};

/** Commands that print what they read. */
export const textRows: Readonly<Record<string, CommandRow>> = {
  cat: {
    options: `-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank
      --show-tabs --show-nonprinting ${info}`,
    operands: 'file*',
  },
  tac: {options: `-b -r -s= --before --regex --separator= ${info}`, operands: 'file*'},
  head: {
    options: `-q -v -z -# -c= -n= --bytes= --lines= --quiet --silent --verbose --zero-terminated ${info}`,
    operands: 'file*',
  },
  tail: {
    options: `-q -v -z -f -F -# -c= -n= -s= --bytes= --lines= --follow=? --retry --pid= --sleep-interval=
      --max-unchanged-stats= --quiet --silent --verbose --zero-terminated ${info}`,
    operands: 'file*',
  },
  nl: {
    options: `-p -b= -d= -f= -h= -i= -l= -n= -s= -v= -w= --body-numbering= --section-delimiter= --footer-numbering=
      --header-numbering= --line-increment= --join-blank-lines= --number-format= --no-renumber --number-separator=
      --starting-line-number= --number-width= ${info}`,
    operands: 'file*',
  },
  wc: {options: `-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total= ${info}`, operands: 'file*'},
  fmt: {
    options: `-c -t -s -u -# -w= -g= -p= --crown-margin --tagged-paragraph --split-only --uniform-spacing --width= --goal=
      --prefix= ${info}`,
    operands: 'file*',
  },
  fold: {options: `-b -s -w= -# --bytes --spaces --width= ${info}`, operands: 'file*'},
  expand: {options: `-i -t= -# --initial --tabs= ${info}`, operands: 'file*'},
  unexpand: {options: `-a -t= --all --first-only --tabs= ${info}`, operands: 'file*'},
  pr: {
    options: `-a -d -e=? -f -F -h= -i=? -J -l= -m -n=? -N= -o= -r -s=? -S=? -t -T -v -w= -W= -c -# --columns= --across
      --double-space --form-feed --header= --join-lines --length= --merge --number-lines=? --first-line-number= --indent=
      --no-file-warnings --omit-header --omit-pagination --show-nonprinting --width= --page-width= ${info}`,
    operands: 'file*',
  },
  od: {
    options: `-a -b -c -d -f -i -l -o -s -v -x -A= -j= -N= -t= -w=? -S= --address-radix= --skip-bytes= --read-bytes=
      --endian= --format= --output-duplicates --width=? --strings=? ${info}`,
    operands: 'file*',
  },
  hexdump: {
    options: '-b -c -C -d -o -v -x -n= -s= -e= --canonical --length= --skip= --no-squeezing',
    operands: 'file*',
  },
  xxd: {
    optionsFirst: true,
    options: '-a -b -C -d -e -E -i -p -ps -u -v -c= -g= -l= -o= -s= -n=',
    operands: 'file?',
    style: 'words',
  },
  base64: {options: `-d -i -w= --decode --ignore-garbage --wrap= ${info}`, operands: 'file?'},
  base32: {options: `-d -i -w= --decode --ignore-garbage --wrap= ${info}`, operands: 'file?'},
  strings: {
    options: '-a -f -n= -t= -e= -s= -w -d -o -# --all --print-file-name --bytes= --radix= --encoding= --help --version',
    operands: 'file*',
    optionFiles: true,
  },
  sort: {
    runs: '--compress-program',
    long: {o: 'output', r: 'reverse'},
    options: `-b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -k= -S= -t=word --ignore-leading-blanks --dictionary-order
      --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort
      --random-sort --random-source=file --reverse --sort= --version-sort --batch-size= --check=? --debug --key= --merge
      --stable --buffer-size= --field-separator=word --parallel= --unique --zero-terminated ${info}`,
    spelled: '-o=file --output=file -T=file --temporary-directory=file --compress-program= --files0-from=file',
    operands: 'file*',
  },
  uniq: {
    options: `-c -d -D -i -u -z -f= -s= -w= --count --repeated --all-repeated=? --skip-fields= --group=? --ignore-case
      --skip-chars= --unique --zero-terminated --check-chars= ${info}`,
    // A second operand is a file that uniq writes.
    operands: 'file?',
  },
  shuf: {
    options: `-e -r -z -n= --echo --head-count= --repeat --zero-terminated -i= --input-range= --random-source=file ${info}`,
    spelled: '-o=file --output=file',
    operands: 'file*',
  },
  cut: {
    options: `-n -s -z -b= -c= -d=word -f= --bytes= --characters= --delimiter=word --fields= --complement --only-delimited
      --output-delimiter=word --zero-terminated ${info}`,
    operands: 'file*',
  },
  paste: {options: `-s -z -d=word --delimiters=word --serial --zero-terminated ${info}`, operands: 'file*'},
  join: {
    options: `-i -z -a= -e= -j= -o= -t= -v= -1= -2= --check-order --nocheck-order --header --ignore-case
      --zero-terminated ${info}`,
    operands: 'file*',
  },
  comm: {
    options: `-1 -2 -3 -z --check-order --nocheck-order --output-delimiter= --total --zero-terminated ${info}`,
    operands: 'file*',
  },
  tr: {options: `-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1 ${info}`, operands: 'pattern*'},
  column: {
    options: `-t -e -x -J -n= -c= -s= -o= -N= -l= -E= -d -H= -O= -R= -T= -W= -L --table --separator= --output-separator=
      --table-columns= --table-right= --table-hide= --table-order= --table-truncate= --table-wrap= --table-noheadings
      --json --table-name= --fillrows --output-width= --keep-empty-lines --table-empty-lines --table-columns-limit=
      --table-header-repeat --help --version`,
    operands: 'file*',
  },
  rev: {options: '-h -V --help --version', operands: 'file*'},
  tsort: {options: info, operands: 'file?'},
  // Without a file it opens a dictionary of the system.
  look: {options: '-a -d -f -t=', operands: 'pattern file?', guesses: true},
  diff: {options: `${diffCommon} --ignore-file-name-case --help -v --version`, operands: 'file*', walks: true},
  cmp: {
    options: `-b -i= -l -n= -s --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent ${info}`,
    operands: 'file file? text? text?',
  },
  diff3: {options: '-A -e -E -m -x -X -3 -i -a -T -L= --merge --text --label= --help -v --version', operands: 'file*'},
  grep,
  egrep: grep,
  fgrep: grep,
  rg: {
    runs: '--pre',
    // Ignore files of the folders above.
    guesses: true,
    options: `-n -N -i -S -s -w -v -x -c -l -o -F -P -U -a -H -I -p -q -0 -L@ -u -b -. -h -V
      -e=pattern -f=file -A= -B= -C= -g=pattern -t= -T= -m= -M= -j= -r= -d= -E=
      --regexp=pattern --file=file --after-context= --before-context= --context= --glob=pattern --iglob=pattern --type=
      --type-not= --type-add= --type-clear= --type-list --files --hidden --no-hidden --no-ignore --no-ignore-vcs
      --no-ignore-parent --no-ignore-global --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-require-git
      --ignore-file=file --json --stats --sort= --sortr= --max-depth= --max-count= --max-columns= --max-columns-preview
      --multiline --multiline-dotall --line-number --no-line-number --heading --no-heading --with-filename --no-filename
      --color= --colors= --count --count-matches --include-zero --files-with-matches --files-without-match
      --fixed-strings --follow@ --ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp
      --only-matching --replace= --passthru --passthrough --pcre2 --no-pcre2 --engine= --auto-hybrid-regex --quiet --text
      --binary --trim --vimgrep --null --null-data --no-messages --no-ignore-messages --one-file-system --encoding=
      --column --no-column --byte-offset --path-separator= --max-filesize= --threads= --no-config --context-separator=
      --field-match-separator= --field-context-separator= --block-buffered --line-buffered --mmap --no-mmap --crlf
      --dfa-size-limit= --regex-size-limit= --unrestricted --no-unicode --pretty --glob-case-insensitive --debug --trace
      --help --version --pcre2-version`,
    operands: 'pattern file*',
    when: {'--files --type-list': 'file*'},
    walks: true,
  },
  jq: {
    interprets: {onlyOptions: true},
    loads: '-f --from-file',
    options: `-c -n -r -j -a -s -S -C -M -R -e -h -V --compact-output --null-input --raw-output --raw-output0 --join-output
      --ascii-output --slurp --sort-keys --color-output --monochrome-output --raw-input --exit-status --tab --indent=count
      --unbuffered --stream --stream-errors --seq --help --version --arg=pair --argjson=pair --slurpfile=filepair
      --rawfile=filepair`,
    operands: 'jq file*',
  },
  sed: {
    interprets: {onlyOptions: true},
    loads: '-f --file',
    long: {i: 'in-place', n: 'quiet', E: 'regexp-extended', f: 'file'},
    options: `-n -E -r -s -u -z -l=count -e=sed --quiet --silent --debug --expression=sed --line-length=count --posix --regexp-extended
      --separate --sandbox --unbuffered --zero-terminated --null-data ${info}`,
    spelled: '-i=? --in-place=? -f=file --file=file',
    operands: 'sed file*',
  },
  awk,
  sha1sum: checksum,
  sha224sum: checksum,
  sha256sum: checksum,
  sha384sum: checksum,
  sha512sum: checksum,
  md5sum: checksum,
  b2sum: {...checksum, options: `${checksum.options} -l= --length=`},
  cksum: {
    options: `-a= -l= -z --algorithm= --length= --untagged --tag --zero --base64 --raw ${info}`,
    operands: 'file*',
  },
  sum: {options: `-r -s --sysv ${info}`, operands: 'file*'},
  echo: {operands: 'word*', style: 'operands'},
  // The shell's builtin printf sets a variable with -v.
  printf: {options: info, operands: 'word*'},
  seq: {options: `-w -f= -s= -# --equal-width --format= --separator= ${info}`, operands: 'text*'},
  numfmt: {
    options: `-z -d= --delimiter= --field= --format= --from= --from-unit= --grouping --header=? --invalid= --padding=
      --round= --suffix= --to= --to-unit= --zero-terminated --debug ${info}`,
    operands: 'text*',
  },
  factor: {options: info, operands: 'text*'},
  expr: {options: info, operands: 'pattern*'},
};
