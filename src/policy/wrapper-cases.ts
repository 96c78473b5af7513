/** What one command would run in turn. */
export interface Inner {
  /** Why the command itself says little; undefined: it is no wrapper. */
  why?: string;
  /** Places in argv where a further command may begin. */
  starts?: number[];
  /** Further commands that are not the rest of argv. */
  commands?: string[][];
  /** Texts that a shell will read. */
  lines?: string[];
  doubt?: string;
}

/** `sh -c LINE`; without a line it runs a file or what it reads. */
export function innerOfShell(kind: string, argv: readonly string[]): Inner {
  let reads = false;
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (/^[-+][oO]$|^--(rcfile|init-file)$/.test(word)) i++;
    else if (/^-[A-Za-z]*c[A-Za-z]*$/.test(word)) reads = true;
    else if (!/^[-+]/.test(word)) return {why: `${kind} runs a script`, lines: reads ? [word] : []};
  }
  return {why: `${kind} runs what it reads`};
}

/** The commands after `-exec` and its like, each up to `;` or `+`. */
export function innerOfFind(argv: readonly string[]): Inner {
  const commands: string[][] = [];
  for (let i = 1; i < argv.length; i++) {
    if (!/^-(exec|execdir|ok|okdir)$/.test(argv[i] ?? '')) continue;
    const start = i + 1;
    for (i = start; i < argv.length && argv[i] !== ';' && argv[i] !== '+'; i++);
    commands.push(argv.slice(start, i));
  }
  return commands.length === 0 ? {} : {why: 'find runs a command for what it finds', commands};
}

const valued = new Set(
  '-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source --list-cmds'.split(' '),
);

/** Git without its global options, the settings among them that may name a program, and subcommands that run others. */
export function innerOfGit(argv: readonly string[]): Inner {
  const lines: string[] = [];
  const commands: string[][] = [];
  let runs = false;
  let i = 1;
  for (; (argv[i] ?? '').startsWith('-'); i++) {
    const word = argv[i] ?? '';
    if (/^(-c|--config-env|--exec-path)(=|$)/.test(word)) runs = true;
    if (word === '-c') lines.push(...settingValue(argv[i + 1] ?? ''));
    if (valued.has(word)) i++;
  }
  const [sub, first, ...rest] = argv.slice(i);
  if (i > 1 && sub !== undefined) commands.push(['git', ...argv.slice(i)]);
  if (sub === 'submodule' && first === 'foreach') lines.push(rest.filter(word => !word.startsWith('-')).join(' '));
  else if (sub === 'bisect' && first === 'run') commands.push(rest);
  else if (sub === 'rebase' || sub === 'difftool' || sub === 'filter-branch')
    lines.push(...optionLines(argv.slice(i + 1)));
  else return runs ? {why: 'git runs programs that its settings name', lines, commands} : {commands};
  return {why: `git ${sub} runs other commands`, lines, commands};
}

function settingValue(setting: string): string[] {
  const at = setting.indexOf('=');
  return at < 0 ? [] : [setting.slice(at + 1).replace(/^!/, '')];
}

/** Values of `-x`, `--exec`, `--extcmd` and the filters. */
function optionLines(args: readonly string[]): string[] {
  return args.flatMap((word, i) => {
    const match = /^(?:-x|--exec|--extcmd|--[a-z]+-filter)(?:=(.*))?$/s.exec(word);
    return match ? [match[1] ?? args[i + 1] ?? ''] : [];
  });
}
