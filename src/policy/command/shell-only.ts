/** Shell builtins without a program of the same name, which only a shell can run. */
export const shellOnly: ReadonlySet<string> = new Set(
  '. source cd pushd popd dirs export declare typeset local readonly unset set shopt alias unalias hash enable umask ulimit wait jobs fg bg disown read mapfile readarray getopts let return exit logout shift times bind complete compgen compopt history fc suspend caller type break continue help :'.split(
    ' ',
  ),
);
