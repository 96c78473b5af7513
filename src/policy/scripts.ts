import type {RiskyUse} from './flag-table.ts';

/** Arguments that are programs of sed or awk and may do more than print. */
export function riskyScripts(kind: string, args: readonly string[]): RiskyUse[] {
  if (kind === 'sed') return sedScripts(args).filter(use => !isHarmlessSed(use.flag));
  if (kind === 'awk') return awkPrograms(args).filter(use => !isHarmlessAwk(use.flag));
  return [];
}

const address = String.raw`(?:\d+|/(?:\\.|[^/\\])*/)`;
const sedPrint = new RegExp(String.raw`^${address}?(?:,${address})?\s*[pdqQ=]?$`);
const sedReplace = new RegExp(
  String.raw`^(?:${address})?(?:,${address})?\s*s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1[gpiI0-9]*$`,
);

/** One printing, deleting or replacing command; whatever else a script is, it is not proven harmless. */
export function isHarmlessSed(script: string): boolean {
  return sedPrint.test(script) || sedReplace.test(script);
}

/** No pipe, redirect, call of a program, or loading of code anywhere in it. */
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
