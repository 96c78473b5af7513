import type {CommandRow} from './row.ts';

/** Options about which commits to show, of `git rev-list`. */
const commits = `-# -n= --max-count= --skip= --since= --after= --until= --before= --since-as-filter= --author=pattern
  --committer=pattern --grep=pattern --grep-reflog=pattern --all-match --invert-grep -i --regexp-ignore-case
  --basic-regexp -E --extended-regexp -F --fixed-strings -P --perl-regexp --merges --no-merges --min-parents= --max-parents=
  --no-min-parents --no-max-parents --first-parent --exclude-first-parent-only --not --all --branches=?pattern
  --tags=?pattern --remotes=?pattern --glob=pattern --exclude=pattern --exclude-hidden= --reflog --single-worktree
  --ignore-missing --cherry-mark --cherry-pick --left-only --right-only --cherry -g --walk-reflogs --merge --boundary
  --simplify-by-decoration --full-history --dense --sparse --simplify-merges --ancestry-path=? --date-order
  --author-date-order --topo-order --reverse --no-walk=? --do-walk --left-right --graph --no-graph --show-linear-break=?
  --count --follow --full-diff`;
/** How commits are shown. */
const pretty = `--pretty=?gitformat --format=gitformat --abbrev-commit --no-abbrev-commit --oneline --encoding= --expand-tabs=?
  --no-expand-tabs --notes=? --no-notes --show-notes=? --relative-date --date= --parents --children --decorate=?
  --no-decorate --decorate-refs=pattern --decorate-refs-exclude=pattern --clear-decorations --source --mailmap --use-mailmap
  --no-mailmap --no-use-mailmap --log-size --no-standard-notes --standard-notes -z`;
/** How differences are shown, of `git diff`. */
const diff = `-p -u --patch -s --no-patch -U=? --unified=? --raw --patch-with-raw --indent-heuristic --no-indent-heuristic
  --minimal --patience --histogram --anchored= --diff-algorithm= --stat=? --compact-summary --numstat --shortstat
  -X=? --dirstat=? --cumulative --summary --patch-with-stat -z --name-only --name-status --color=? --no-color
  --color-moved=? --no-color-moved --color-moved-ws= --word-diff=? --word-diff-regex=pattern --color-words=?
  --no-renames --rename-empty --no-rename-empty --check --ws-error-highlight= --full-index --binary --abbrev=?
  --no-abbrev -B=? --break-rewrites=? -M=? --find-renames=? -C=? --find-copies=? --find-copies-harder -D
  --irreversible-delete -l= --diff-filter= -S=pattern -G=pattern --find-object= --pickaxe-all --pickaxe-regex -R
  --relative=?file --no-relative -a --text --ignore-cr-at-eol --ignore-space-at-eol -b --ignore-space-change -w
  --ignore-all-space --ignore-blank-lines -I=pattern --ignore-matching-lines=pattern --inter-hunk-context= -W
  --function-context --exit-code --quiet --no-ext-diff --no-textconv --src-prefix= --dst-prefix= --no-prefix
  --default-prefix --line-prefix= --output-indicator-new= --output-indicator-old= --output-indicator-context=
  --ita-invisible-in-index --ita-visible-in-index --merge-base --cached --staged -0 -1 -2 -3 --ours --theirs --base
  --cc -c -m --combined-all-paths --diff-merges=mergediff --no-diff-merges -t -r --root`;
const log: CommandRow = {options: `${commits} ${pretty} ${diff} -L= -h --no-show-signature`, operands: 'revision*'};
const show: CommandRow = {options: `${pretty} ${diff} -h -q`, operands: 'revision*'};
/** A row of a comparing plumbing command. */
const compare: CommandRow = {options: `${diff} -q -h`, operands: 'revision*', walks: true};

/** Listing options of `git branch` and `git tag`; operands are patterns only with one of `listing`. */
const refs = '--list -l --contains=?file --no-contains=?file --merged=?file --no-merged=?file --points-at=file';
const listing = '--list -l --contains --no-contains --merged --no-merged --points-at';
const refFormat =
  '--format=refformat --sort=refformat --column=? --no-column --color=? --no-color -i --ignore-case --omit-empty';

export const gitRow: CommandRow = {
  enters: '-C',
  reaches:
    'push,fetch,pull,clone,ls-remote,send-email,request-pull,svn,p4,remote update,remote show,remote prune,submodule update,submodule add,lfs push,lfs pull,lfs fetch',
  runs: '-O -x --open-files-in-pager --upload-pack --receive-pack --exec --extcmd',
  long: {f: 'force', d: 'delete', D: 'delete', a: 'all', n: 'dry-run'},
  // Not -C, -c, --git-dir and the like: another repository may name programs to run.
  options: `--no-pager --no-optional-locks --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs
    --icase-pathspecs -P -v --version`,
  operands: '',
  subcommands: {
    status: {
      options: `-s -b -v -u=? -z --short --branch --show-stash --porcelain=? --long --verbose --untracked-files=?
        --ignored=? --ignore-submodules=? --column=? --no-column --ahead-behind --no-ahead-behind --renames --no-renames
        --find-renames=? -h`,
      operands: 'revision*',
    },
    log,
    whatchanged: log,
    'rev-list': {
      options: `${commits} ${pretty} --objects --timestamp --header --abbrev=? --no-abbrev --quiet -h`,
      operands: 'revision*',
    },
    reflog: {
      options: `${commits} ${pretty} ${diff}`,
      operands: '',
      subcommands: {show: log, exists: {operands: 'file'}},
    },
    show,
    diff: {...compare, options: `${compare.options} --no-index`},
    'diff-tree': {options: `${compare.options} ${pretty} --no-commit-id --always`, operands: 'revision*'},
    'diff-files': compare,
    'diff-index': compare,
    'range-diff': {
      options: `${diff} --creation-factor= --no-dual-color --left-only --right-only`,
      operands: 'revision*',
    },
    blame: {
      options: `-b -c -e -f -l -n -p -s -t -w -L= -M=? -C=? --root --show-stats --show-name --show-number --porcelain
        --line-porcelain --show-email --first-parent --date= --since= --reverse --encoding= --score-debug --abbrev=?
        --ignore-rev= --color-lines --color-by-age --progress --no-progress -h`,
      operands: 'revision*',
    },
    annotate: {options: '-l -t -w -L= -h', operands: 'revision*'},
    shortlog: {
      options: `${commits.replace(' -n= ', ' ')} -n -s -e -c -w=? --summary --numbered --email --committer --group=gitformat --format=gitformat --date= -h`,
      operands: 'revision*',
    },
    describe: {
      options:
        '--all --tags --contains --abbrev= --candidates= --exact-match --debug --long --match=pattern --exclude=pattern --always --first-parent --dirty=? --broken=? -h',
      operands: 'revision*',
    },
    'rev-parse': {
      options: `--abbrev-ref=? --short=? --verify -q --quiet --symbolic --symbolic-full-name --show-toplevel --show-prefix
        --show-cdup --show-superproject-working-tree --git-dir --git-common-dir --absolute-git-dir --is-inside-git-dir
        --is-inside-work-tree --is-bare-repository --is-shallow-repository --show-object-format=? --all --branches=?pattern
        --tags=?pattern --remotes=?pattern --glob=pattern --exclude=pattern --revs-only --no-revs --flags --no-flags
        --default= --not --sq --local-env-vars --path-format= --git-path=file`,
      operands: 'revision*',
    },
    'ls-files': {
      options: `-c -d -m -o -i -s -u -k -z -t -v -f -x=pattern -X=file --cached --deleted --modified --others --ignored --stage
        --unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude=pattern --exclude-from=file
        --exclude-standard --error-unmatch --full-name --abbrev=? --debug --sparse --format= -h`,
      operands: 'revision*',
    },
    'ls-tree': {
      options:
        '-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev=? --format= -h',
      operands: 'revision*',
    },
    'cat-file': {
      options: '-t -s -e -p --allow-unknown-type --batch=? --batch-check=? --buffer --unordered --follow-symlinks -h',
      operands: 'revision*',
    },
    grep: {
      options: `-a -I -i -w -v -h -H -E -G -F -P -n -l -L -z -o -c -q -p -W -# -r -e=pattern -f=file -m= -A= -B= -C= --text
        --cached --untracked --no-index --no-exclude-standard --exclude-standard --ignore-case --max-depth= --recursive
        --no-recursive --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --fixed-strings
        --perl-regexp --line-number --column --files-with-matches --name-only --files-without-match --null
        --only-matching --count --color=? --no-color --break --heading --show-function --context= --after-context=
        --before-context= --function-context --threads= --max-count= --and --or --not --all-match --quiet
        --no-textconv`,
      operands: 'pattern file*',
      walks: true,
    },
    branch: {
      options: `${refs} ${refFormat} -a -r -v -vv -q --all --remotes --verbose --quiet --show-current --abbrev=? --no-abbrev -h`,
      operands: '',
      when: {[listing]: 'pattern*'},
    },
    tag: {options: `${refs} ${refFormat} -n=?count -h`, operands: '', when: {[`${listing} -n`]: 'pattern*'}},
    'for-each-ref': {
      options: `${refFormat} --count= --points-at=file --merged=?file --no-merged=?file --contains=?file --no-contains=?file
        --exclude=pattern --stdin -h`,
      operands: 'pattern*',
    },
    'show-ref': {
      options:
        '-s -d -q --head --heads --branches --tags --dereference --hash=? --verify --abbrev=? --quiet --exists -h',
      operands: 'pattern*',
    },
    'show-branch': {
      options:
        '-r -a --remotes --all --current --topo-order --date-order --sparse --list --sha1-name --no-name --independent --merge-base --topics -h',
      operands: 'revision*',
    },
    'name-rev': {
      options: '--tags --refs=pattern --exclude=pattern --all --name-only --no-undefined --always -h',
      operands: 'revision*',
    },
    'merge-base': {options: '-a --all --octopus --independent --is-ancestor --fork-point -h', operands: 'revision*'},
    cherry: {options: '-v --abbrev=? -h', operands: 'revision*'},
    'count-objects': {options: '-v -H --verbose --human-readable -h'},
    'check-ignore': {
      options: '-q -v -z -n --quiet --verbose --stdin --non-matching --no-index -h',
      operands: 'revision*',
    },
    'check-attr': {options: '-a -z --all --cached --stdin --source= -h', operands: 'revision*'},
    // `git config NAME` shows a value, `git config NAME VALUE` sets one.
    config: {
      optionsFirst: true,
      options:
        '--local --worktree -z --null -l --list --name-only --show-origin --show-scope --get --get-all --get-regexp --type= --bool --int --bool-or-int --path --default= --includes --no-includes',
      operands: 'gitkey',
      when: {'--get --get-all --get-regexp': 'pattern pattern?'},
    },
    remote: {
      options: '-v --verbose',
      operands: '',
      subcommands: {'get-url': {options: '--push --all', operands: 'text'}, show: {operands: ''}},
    },
    // Without a subcommand, stash changes files.
    stash: {
      subcommands: {
        list: log,
        show: {options: `${diff} -u --include-untracked --only-untracked --no-include-untracked`, operands: 'file?'},
      },
    },
    worktree: {subcommands: {list: {options: '-v -z --porcelain'}}},
    notes: {subcommands: {list: {operands: 'file?'}, show: {operands: 'file?'}}, operands: ''},
    bisect: {subcommands: {log: {operands: ''}}},
    version: {options: '--build-options'},
    var: {options: '-l', operands: 'text?'},
  },
};
