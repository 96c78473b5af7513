export interface InnerCommand {
  /** Why the command itself says little; undefined: it is no wrapper. */
  why?: string;
  /** Indexes in argv where a further command may begin. */
  starts?: number[];
  /** Further commands that are not the rest of argv. */
  commands?: string[][];
  /** Texts that a shell will read. */
  lines?: string[];
  /** It runs its standard input. */
  reads?: true;
  doubt?: string;
}

/** `sh -c LINE`; without a line, a shell runs a file or its input. */
export function innerOfShell(kind: string, argv: readonly string[]): InnerCommand {
  let takesLine = false;
  let reads = false;
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (/^(-[A-Za-z]*c[A-Za-z]*|--commands?|-Command)$/i.test(word)) takesLine = true;
    else if (/^-[A-Za-z]*s[A-Za-z]*$/.test(word)) reads = true;
    else if (/^--commands?=/.test(word))
      return {why: `${kind} runs a line`, lines: [word.slice(word.indexOf('=') + 1)]};
    else if (!/^[-+]/.test(word)) {
      if (takesLine) return {why: `${kind} runs a script`, ...inlineScript(argv, i)};
      if (!reads && !/^\/(dev\/stdin|(dev|proc\/self)\/fd\/0)$/.test(word)) return {why: `${kind} runs a script`};
      break;
    }
    if (takesName.test(word) && !(argv[i + 1] ?? '').startsWith('-')) i++;
  }
  return takesLine ? {why: `${kind} runs a line`} : {why: `${kind} runs what it reads`, reads: true};
}

/** Options with a value: `-euo pipefail`, but not `-NoLogo -Command` of PowerShell. */
const takesName = /^[-+][A-Za-z]*[oO]$|^--(rcfile|init-file)$/;

/** Words after the line may be a command for it: `sh -c '"$@"' _ sudo id`. */
function inlineScript(argv: readonly string[], at: number): InnerCommand {
  const line = argv[at] ?? '';
  const starts = line.includes('$') ? [at + 1, at + 2].filter(start => start < argv.length) : [];
  return {lines: [line], starts};
}

const findExec = {
  find: {option: /^-(?:exec|execdir|ok|okdir)$/, end: /^[;+]$/},
  // The command may be attached: `--exec=rm`, `-xrm`.
  fd: {option: /^(?:-[A-Za-z]*?[xX]|--exec(?:-batch)?(?:=|$))(.*)$/s, end: /^;$/},
} as const;

/** Commands after `-exec` and similar options, each up to its end. */
export function innerOfFind(kind: keyof typeof findExec, argv: readonly string[]): InnerCommand {
  const {option, end} = findExec[kind];
  const commands: string[][] = [];
  for (let i = 1; i < argv.length; i++) {
    const match = option.exec(argv[i] ?? '');
    if (!match) continue;
    const command = match[1] ? [match[1]] : [];
    for (i++; i < argv.length && !end.test(argv[i] ?? ''); i++) command.push(argv[i] ?? '');
    commands.push(command);
  }
  return commands.length === 0 ? {} : {why: `${kind} runs a command for what it finds`, commands};
}

/** `capsh -- ARGUMENTS` means `bash ARGUMENTS`. */
export function innerOfCapsh(argv: readonly string[]): InnerCommand {
  const at = argv.findIndex(word => word === '--' || word === '==');
  return at < 0 ? {} : {why: 'capsh runs a shell', commands: [['bash', ...argv.slice(at + 1)]]};
}

const valued = new Set(
  '-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source --list-cmds'.split(' '),
);

/** Git without global options, programs named by settings among these, and subcommands that run others. */
export function innerOfGit(argv: readonly string[]): InnerCommand {
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
  else if (sub === 'config')
    return {lines: [first ?? '', ...rest].filter(word => /^!|\s/.test(word)).map(withoutBang), commands};
  else return runs ? {why: 'git runs programs that its settings name', lines, commands} : {commands};
  return {why: `git ${sub} runs other commands`, lines, commands};
}

function settingValue(setting: string): string[] {
  const at = setting.indexOf('=');
  return at < 0 ? [] : [withoutBang(setting.slice(at + 1))];
}

/** Strip the `!` of an alias that is a command line. */
function withoutBang(value: string): string {
  return value.replace(/^!/, '');
}

/** Values of `-x`, `--exec`, `--extcmd` and the filters. */
function optionLines(args: readonly string[]): string[] {
  return args.flatMap((word, i) => {
    const match = /^(?:-x|--exec|--extcmd|--[a-z]+-filter)(?:=(.*))?$/s.exec(word);
    return match ? [match[1] ?? args[i + 1] ?? ''] : [];
  });
}
