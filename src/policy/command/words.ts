import {Minimatch} from 'minimatch';
import type {Rule, Verdict} from '../../formats/rule.ts';

/** `*` stops at `/` and does not match a leading dot; only `*`, `?` and `[…]` are special. */
const strict = {
  dot: false,
  nobrace: true,
  nocomment: true,
  noext: true,
  nonegate: true,
  noglobstar: false,
  preserveMultipleSlashes: true,
  optimizationLevel: 0,
  platform: 'linux',
} as const;

/** A glob character alone in brackets is literal. */
const SPELLED = /\[([*?[]|\\\\)\]/g;

/** Literal text of a word without globs; undefined: it has globs. */
function literalText(word: string): string | undefined {
  if (!/[*?[]/.test(word)) return word;
  return /[*?[\\]/.test(word.replace(SPELLED, ''))
    ? undefined
    : word.replace(SPELLED, (_, char: string) => char.charAt(0));
}

export function isLiteral(word: string): boolean {
  return literalText(word) !== undefined;
}

/** Text before the first glob character. */
export function literalPrefix(word: string): string {
  const at = word.search(/[*?[]/);
  return at < 0 ? word : word.slice(0, at);
}

/** Number of literal words: the more, the more specific the rule. */
export function literalWords(rule: Rule): number {
  return rule.words.filter(isLiteral).length;
}

/** Whether a rule covers exactly one command: every word is literal and no further arguments are allowed. */
export function isExact(rule: Rule): boolean {
  return !rule.open && rule.words.every(isLiteral);
}

/** For allow rules: a glob matches less rather than more, and an option only if it begins as one. */
export function strictMatch(word: string, argument: string): boolean {
  const literal = literalText(word);
  if (literal !== undefined) return literal === argument;
  if (argument.startsWith('-') && !word.startsWith('-')) return false;
  // minimatch throws on very long patterns.
  if (word.length > 4096) return false;
  let glob = globs.get(word);
  if (!glob) {
    if (globs.size >= MAX_CACHED_GLOBS) globs.clear();
    glob = new Minimatch(word, strict);
    globs.set(word, glob);
  }
  return glob.match(argument);
}

const globs = new Map<string, Minimatch>();
const MAX_CACHED_GLOBS = 500;

/** For ask and deny rules: `*` is anything, including `/` and leading dots; `[…]` is any single character. */
export function looseMatch(word: string, argument: string): boolean {
  const pattern = word.replace(/\[[^\]]*\]/g, '?');
  let p = 0;
  let a = 0;
  let star = -1;
  let retry = 0;
  while (a < argument.length) {
    if (pattern[p] === '*') {
      star = p++;
      retry = a;
    } else if (pattern[p] === '?' || pattern[p] === argument[a]) {
      p++;
      a++;
    } else if (star >= 0) {
      p = star + 1;
      a = ++retry;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** Whether an allow or ask rule covers this command: each word is one argument, in order. */
export function matches(rule: Rule, argv: readonly string[]): boolean {
  const {words, open} = rule;
  if (open ? argv.length < words.length : argv.length !== words.length) return false;
  const match = rule.verdict === 'allow' ? strictMatch : looseMatch;
  return words.every((word, i) => match(word, argv[i] ?? ''));
}

/** Whether an allow or ask rule may match a command of this name, judged by its first word. */
export function mayMatch(rule: Rule, name: string): boolean {
  const match = rule.verdict === 'allow' ? strictMatch : looseMatch;
  return rule.words[0] === undefined || match(rule.words[0], name);
}

/**
 * Whether a rule applies to this agent. A rule for some agents does not apply to an unknown one. An ask or deny rule for
 * `coder` also holds for `coder@pr-1`; an allow rule for `coder` or `c*` does not: who wrote the workflow chose that name.
 */
export function isFor(
  rule: {verdict: Verdict; agents?: readonly string[] | undefined},
  agent: string | undefined,
): boolean {
  if (rule.agents === undefined) return true;
  if (agent === undefined) return false;
  if (rule.verdict === 'allow') {
    const named = (glob: string) => glob === '*' || glob.includes('@') || !agent.includes('@');
    return rule.agents.some(glob => named(glob) && strictMatch(glob, agent));
  }
  const name = agent.split('@', 1)[0] ?? agent;
  return rule.agents.some(glob => looseMatch(glob, agent) || looseMatch(glob, name));
}
