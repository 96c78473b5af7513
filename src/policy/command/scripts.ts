import type {RiskyUse} from './flag-table.ts';

/** Risky arguments in languages such as sed, awk and jq. */
export function riskyScripts(kind: string, args: readonly string[]): RiskyUse[] {
  if (kind === 'sed') return sedScripts(args).filter(use => !isHarmlessSed(use.flag));
  if (kind === 'awk') return awkPrograms(args).filter(use => !isHarmlessAwk(use.flag));
  if (kind === 'ps') return psOptions(args);
  if (kind === 'jq') return jqPrograms(args);
  if (kind === 'tar') return otherMachines(args);
  if (kind === 'git') return gitFormats(args);
  return [];
}

const address = String.raw`(?:\d+|/(?:\\.|[^/\\])*/)`;
const sedPrint = new RegExp(String.raw`^${address}?(?:,${address})?\s*[pdqQ=]?$`);
const sedReplace = new RegExp(
  String.raw`^(?:${address})?(?:,${address})?\s*s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1[gpiI0-9]*$`,
);

/** Whether a script is a single print, delete or replace command. Others are not proven harmless. */
export function isHarmlessSed(script: string): boolean {
  return sedPrint.test(script) || sedReplace.test(script);
}

/** Whether a program has no pipe, redirect, program call or code loading. */
export function isHarmlessAwk(program: string): boolean {
  return !/[|>@]|system|getline|ENVIRON/.test(program);
}

function sedScripts(args: readonly string[]): RiskyUse[] {
  const reason = 'is a script that may write files or run commands';
  const found: RiskyUse[] = [];
  let operand: RiskyUse | undefined;
  for (let index = 1; index < args.length; index++) {
    const word = args[index] ?? '';
    if (/^(-[A-Za-z]*e|--e[a-z]*)$/.test(word)) found.push({index: index + 1, flag: args[++index] ?? '', reason});
    else if (/^--e[a-z]*=/.test(word)) found.push({index, flag: word.slice(word.indexOf('=') + 1), reason});
    else if (/^-[A-Za-z]*e/.test(word)) found.push({index, flag: word, reason});
    else if (!word.startsWith('-')) operand ??= {index, flag: word, reason};
  }
  if (found.length === 0 && operand) found.push(operand);
  return found;
}

function awkPrograms(args: readonly string[]): RiskyUse[] {
  const reason = 'may write files or run commands';
  return args.slice(1).map((word, i) => ({index: i + 1, flag: word, reason}));
}

/**
 * `e` without a dash shows the environment of processes. An unknown option with a dash, or an unknown user, makes ps
 * parse everything as without dashes: `ps -auxe`, `ps -x -e`, `ps -e -u nobody-here`.
 */
function psOptions(args: readonly string[]): RiskyUse[] {
  const short = args.slice(1).filter(word => /^-[^-]/.test(word));
  const certain = short.every(word => /^-[AadefFHjlLmMNPTVwyc]*[oO]?$/.test(word));
  return args.flatMap((flag, index) => {
    if (index === 0 || flag.startsWith('--') || !flag.includes('e') || (certain && flag.startsWith('-'))) return [];
    return [{index, flag, reason: 'may show the environment of processes'}];
  });
}

/** A program may name code files to load, and where to search for them. */
function jqPrograms(args: readonly string[]): RiskyUse[] {
  return args.flatMap((flag, index) =>
    index > 0 && /\b(?:import|include)\s*"/.test(flag) ? [{index, flag, reason: 'loads code'}] : [],
  );
}

/** Formats and sort keys that show signatures make git start gpg. */
function gitFormats(args: readonly string[]): RiskyUse[] {
  const ofRefs = args.some(word => /^(branch|tag|for-each-ref)$/.test(word));
  const signature = ofRefs ? /%[-+ ]?G|signature/ : /%[-+ ]?G|%\(\*?signature/;
  return args.flatMap((flag, index) =>
    index > 0 && signature.test(flag) ? [{index, flag, reason: 'starts gpg to check signatures'}] : [],
  );
}

/** `host:file` is on another machine, reached by a remote shell. */
function otherMachines(args: readonly string[]): RiskyUse[] {
  return args.flatMap((flag, index) =>
    index > 0 && flag.includes(':') ? [{index, flag, reason: 'may name a file of another machine'}] : [],
  );
}
