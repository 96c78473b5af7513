import {ownEntry} from './command-name.ts';
import {abbreviates} from './deny.ts';
import {rows} from './table/rows.ts';

const languages: ReadonlySet<string> = new Set('awk perl python ruby node php lua deno'.split(' '));

const caller = String.raw`\b(?:system|popen|exec\w*|spawn\w*|run|call|check_\w+|get(?:status)?output|passthru|shell_exec)\b`;
/** Includes `f"…"`, triple quotes, and perl's `q(…)`. */
const quoted = String.raw`(?:[bfru]{0,2}(?:"+([^"]*)"|'+([^']*)')|\`([^\`]*)\`|qq?\s*[({[<|/!]([^)}\]>|/!]*))`;
/** A call, in any language, that runs its first argument. */
const call = new RegExp(String.raw`${caller}[\s({[]*(?:args\s*=\s*)?${quoted}`, 'gi');
/** All arguments of a call: `spawn("rm", ["-rf", "x"])`. */
const wholeCall = new RegExp(String.raw`${caller}\s*\(([^)]*)`, 'gi');
const listCall = /\(\s*\[([^\]]*)\]/g;
const backticks = /`([^`]*)`|(?:%x|\bqx)\s*[({[<|/!]([^)}\]>|/!]*)/g;
const awkPipe = /\|&?\s*"([^"]*)"|"([^"]*)"\s*\|\s*getline/g;

/** Longer programs are not searched. */
const longest = 4096;

/** Command lines inside arguments, for another program to run. For deny rules only: no rule allows such arguments. */
export function linesInArguments(kind: string, argv: readonly string[]): string[] {
  const options = ownEntry(rows, kind)?.runs;
  if (options !== undefined) return optionValues(options.split(' '), argv);
  const lines = (read: (text: string) => string[]): string[] =>
    argv.slice(1).flatMap(text => (text.length > longest ? [] : read(text)));
  if (languages.has(kind)) return lines(text => linesInProgram(kind, text));
  if (kind === 'sed') return lines(text => captures(/(?:^|[;{}\d/$]|-e)\s*e\s+([^\n]+)/g, text));
  if (kind === 'socat') return lines(text => captures(/\b(?:EXEC|SYSTEM):["']?([^,"']+)/gi, text));
  if (kind === 'mysql' || kind === 'psql' || kind === 'sqlite3')
    return lines(text => captures(/(?:\\!|^\s*\.(?:shell|system)\s)\s*(.+)/g, text));
  if (kind === 'vim' || kind === 'less')
    return lines(text => captures(/^(?:\+|-c)?[\s:]*(?:sil\w*!?\s+)?!(.+)$/gs, text));
  return [];
}

function linesInProgram(kind: string, program: string): string[] {
  const lists = [...captures(listCall, program), ...captures(wholeCall, program)].map(list =>
    captures(/"([^"]*)"|'([^']*)'/g, list).join(' '),
  );
  const more = kind === 'awk' ? awkPipe : kind === 'perl' || kind === 'ruby' || kind === 'php' ? backticks : undefined;
  return [...captures(call, program), ...lists, ...(more ? captures(more, program) : [])];
}

function captures(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(pattern)].flatMap(match => match.slice(1).filter(group => group !== undefined));
}

/** Attached values or next words, without a prefix such as `exec=` or `ProxyCommand=`. */
function optionValues(options: readonly string[], argv: readonly string[]): string[] {
  return argv.flatMap((word, i) => {
    if (i === 0 || !word.startsWith('-')) return [];
    const long = word.startsWith('--');
    const at = long ? word.indexOf('=') : 2;
    const name = at < 0 ? word : word.slice(0, at);
    if (!options.some(option => option === name || (long && abbreviates(name, option)))) return [];
    const attached = at < 0 ? '' : word.slice(long ? at + 1 : at);
    return [(attached || (argv[i + 1] ?? '')).replace(/^[A-Za-z]+=/, '')];
  });
}
