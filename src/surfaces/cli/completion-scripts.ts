import {exit, UserError} from '../../formats/common/errors.ts';

/*
 * Each asks `agentdir __complete -- WORDS`, so that no script knows any command. A line is a word, a tab and what it is;
 * `:files` and `:dirs` ask for the shell's own.
 */

// bash splits words at = and : too; they are put together again, and what stands before the last of these is cut off.
const bash = `# bash completions for agentdir: eval "$(agentdir completions bash)" in ~/.bashrc
_agentdir() {
  local words=() word line current prefix i glued=''
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((\${#words[@]} > 0)) && [[ ( $word == [=:]* || $glued ) && \${words[-1]} != *[[:space:]] ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    [[ $word == *[=:] ]] && glued=1 || glued=''
  done
  current=\${words[-1]-}
  prefix=''
  [[ $current == *[=:]* && $COMP_WORDBREAKS == *[=:]* ]] && prefix=\${current%"\${current##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "\${current#"$prefix"}") ;;
      :dirs) compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "\${current#"$prefix"}") ;;
      *) word=\${line%%$'\\t'*}
        COMPREPLY+=("\${word#"$prefix"}") ;;
    esac
  done < <("$1" __complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _agentdir agentdir
`;

const zsh = `#compdef agentdir
# zsh completions for agentdir: eval "$(agentdir completions zsh)" in ~/.zshrc, after compinit
_agentdir() {
  local line value what
  local -a asked offered
  asked=("\${(@Q)words[2,CURRENT]}")
  while IFS= read -r line; do
    case $line in
      :files) _files ;;
      :dirs) _files -/ ;;
      *) value=\${line%%$'\\t'*}
        what=\${line#*$'\\t'}
        [[ $what == $line ]] && what=''
        offered+=("\${value//:/\\\\:}\${what:+:$what}") ;;
    esac
  done < <(agentdir __complete -- "\${asked[@]}" 2>/dev/null)
  (( $#offered )) && _describe -t agentdir agentdir offered
}
if [[ $funcstack[1] == _agentdir ]]; then
  _agentdir "$@"
else
  compdef _agentdir agentdir
fi
`;

const fish = `# fish completions for agentdir: agentdir completions fish > ~/.config/fish/completions/agentdir.fish
function __agentdir_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (agentdir __complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (commandline -ct)
            case :dirs
                __fish_complete_directories (commandline -ct)
            case '*'
                printf '%s\\n' $line
        end
    end
end
complete -c agentdir -f -a '(__agentdir_complete)'
`;

const scripts: Record<string, string> = {bash, zsh, fish};

export function scriptFor(shell: string): string {
  const script = scripts[shell];
  if (script === undefined) throw new UserError(`no shell "${shell}"`, exit.usage, 'one of: bash, zsh, fish');
  return script;
}
