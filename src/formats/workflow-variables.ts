import {mentionsInProse, withoutQuotes} from './mentions.ts';
import {readerOf} from './workflow-code.ts';

/** `${{ name }}` in workflow files. */
const VARIABLE = /\$\{\{([^{}]{0,200})\}\}/g;

/** Names that are always known. `env.NAME` is known as well. */
export const RESERVED_VARIABLES: readonly string[] = [
  'workflow.name',
  'workflow.instance',
  'context.channel',
  'context.document',
  'instance',
];

export function isEnvVariable(name: string): boolean {
  return /^env\.[A-Za-z_]\w*$/.test(name);
}

/** The names of all variables in a text, in order. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(VARIABLE)].map(match => match[1]?.trim() ?? '');
}

/** A value for a variable. `outside`: text that no person wrote, such as the output of a command. */
export interface VariableValue {
  text: string;
  outside?: boolean;
}

export type VariableValues = (name: string) => VariableValue | undefined;

/**
 * A text with all variables replaced. Unknown ones stay. Text from outside becomes code, so that nothing in it counts as a mention. Where
 * the text has code of its own around a variable that a value would end, backticks, tildes and "@" of values are replaced.
 */
export function fillVariables(text: string, lookUp: VariableValues): string {
  const filled = filledWith(text, lookUp);
  const harmless = filledWith(text, name => {
    const value = lookUp(name);
    return value?.outside ? {...value, text: withoutMarks(value.text)} : value;
  });
  return mentionsOf(filled) === mentionsOf(harmless) ? filled : harmless;
}

function mentionsOf(text: string): string {
  return JSON.stringify(mentionsInProse(withoutQuotes(text)));
}

function withoutMarks(value: string): string {
  return value.replaceAll('`', "'").replaceAll('~', '-').replaceAll('@', '(at)');
}

function filledWith(text: string, lookUp: VariableValues): string {
  const around = longestTicks(text);
  return text.replace(VARIABLE, (whole, name: string, at: number) => {
    const value = lookUp(name.trim());
    if (!value) return whole;
    if (!value.outside) return value.text;
    const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
    const isLast = /^[ \t]*(?:\n|$)/.test(text.slice(at + whole.length));
    return asCode(value.text, {around, isAfter: before.trim() !== '', isLast});
  });
}

function longestTicks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

/** `around`: the longest backticks in the text. `isAfter`, `isLast`: something stands in the line before the value, and nothing after it. */
function asCode(value: string, {around, isAfter, isLast}: {around: number; isAfter: boolean; isLast: boolean}): string {
  const text = value.replace(/\n+$/, '');
  const longest = Math.max(around, longestTicks(text));
  if (!text.includes('\n')) return /[@`#>~]/.test(text) ? inlineCode(text, longest) : text;
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${isAfter ? '\n' : ''}${fence}\n${text}\n${fence}${isLast ? '' : '\n'}`;
}

function inlineCode(text: string, longest: number): string {
  const ticks = '`'.repeat(longest + 1);
  return longest > 0 ? `${ticks} ${text} ${ticks}` : ticks + text + ticks;
}

/** A shell line, and the environment variables that hold its values. */
export interface ShellLine {
  line: string;
  env: Record<string, string>;
  /** The program that would read a value as code, so that the line must not run. */
  pastedInto?: string;
}

/**
 * A shell line in which each variable is a quoted environment variable, so that no value is ever read as shell code. The quotes fit the place:
 * outside of quotes, in double quotes and in single quotes the value arrives as it is.
 */
export function shellLine(shell: string, lookUp: VariableValues): ShellLine {
  const env: Record<string, string> = {};
  const names = new Map<string, string>();
  const nameFor = (name: string, value: string) => {
    const known = names.get(name);
    if (known) return known;
    const made = `AGENTDIR_VALUE_${names.size + 1}`;
    names.set(name, made);
    env[made] = value;
    return made;
  };
  let line = '';
  let from = 0;
  let open: Quote[] = [];
  let pastedInto: string | undefined;
  for (const match of shell.matchAll(VARIABLE)) {
    const before = shell.slice(from, match.index);
    open = quotesAfter(before, open);
    pastedInto ??= readerOf(shell.slice(0, match.index), shell.slice(match.index + match[0].length));
    const quote = open.at(-1) ?? 'none';
    const value = lookUp(match[1]?.trim() ?? '');
    line += before;
    if (value) {
      const variable = nameFor(match[1]?.trim() ?? '', value.text);
      line += quote === 'none' ? `"\${${variable}}"` : quote === 'double' ? `\${${variable}}` : `'"\${${variable}}"'`;
    } else line += match[0];
    from = match.index + match[0].length;
  }
  return {line: line + shell.slice(from), env, ...(pastedInto !== undefined && {pastedInto})};
}

type Quote = 'none' | 'single' | 'double';

/**
 * The quotes that are open at a place of a shell line, the innermost last; `$(` opens a new, unquoted context. A wrong answer changes how a
 * value arrives, and never runs it.
 */
function quotesAfter(text: string, before: readonly Quote[]): Quote[] {
  const open = [...before];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    const now = open.at(-1) ?? 'none';
    if (now === 'single') {
      if (character === "'") open.pop();
    } else if (character === '\\') i++;
    else if (character === '(' && (now === 'none' || text[i - 1] === '$')) open.push('none');
    else if (character === ')' && now === 'none') open.pop();
    else if (character === '"') {
      if (now === 'double') open.pop();
      else open.push('double');
    } else if (character === "'" && now === 'none') open.push('single');
  }
  return open;
}
