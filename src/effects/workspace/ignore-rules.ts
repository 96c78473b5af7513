import {closeSync, readSync} from 'node:fs';
import type {Folder} from './folder.ts';
import {type GlobPattern, globMatches, globPattern} from './glob-pattern.ts';
import {nameMatcher} from './name-pattern.ts';
import {openIn} from './open-file.ts';

/** In ripgrep's order of precedence: a match in one file hides the later files. */
export const ignoreFiles: readonly string[] = ['.rgignore', '.ignore', '.gitignore'];

/** Rules of a folder and the folders above: one chain per file name, deepest first. */
export type IgnoreRules = readonly (Level | undefined)[];

interface Level {
  rules: readonly IgnoreRule[];
  /** Number of path components of their folder. */
  depth: number;
  above: Level | undefined;
}

interface IgnoreRule {
  keep: boolean;
  folderOnly: boolean;
  /** Exactly one is set: match by name, or by path relative to the folder. */
  name?: (name: string) => boolean;
  path?: GlobPattern;
}

const MOST_BYTES = 64 * 1024;
const MOST_RULES = 1000;

/** Folders that are not the agent's work. */
export function isNeverSearched(name: string): boolean {
  return name === 'node_modules';
}

export const noRules: IgnoreRules = [];

/** Rules for entries of `folder`; an unreadable file has no rules. */
export function withIgnoreFiles(
  folder: Folder,
  depth: number,
  above: IgnoreRules,
  present: (name: string) => boolean,
): IgnoreRules {
  if (!ignoreFiles.some(present)) return above;
  return ignoreFiles.map((name, i) => {
    const rules = present(name) ? parseIgnore(textOf(folder, name)) : [];
    return rules.length > 0 ? {rules, depth, above: above[i]} : above[i];
  });
}

/** The last matching rule of the deepest file decides. Undefined: no rule matches. */
export function ignoring(
  all: IgnoreRules,
  parts: readonly string[],
  isFolder: boolean,
): 'ignored' | 'kept' | undefined {
  const name = parts.at(-1) ?? '';
  for (const deepest of all) {
    for (let level = deepest; level; level = level.above) {
      for (let i = level.rules.length - 1; i >= 0; i--) {
        const rule = level.rules[i];
        if (!rule || (rule.folderOnly && !isFolder)) continue;
        const hit = rule.name ? rule.name(name) : rule.path && globMatches(rule.path, parts.slice(level.depth));
        if (hit) return rule.keep ? 'kept' : 'ignored';
      }
    }
  }
  return undefined;
}

function parseIgnore(text: string): IgnoreRule[] {
  const rules: IgnoreRule[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (rules.length >= MOST_RULES) break;
    const bare = line.trimEnd();
    const trimmed = bare.endsWith('\\') && bare !== line ? `${bare} ` : bare;
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const keep = trimmed.startsWith('!');
    let body = keep ? trimmed.slice(1) : trimmed;
    const folderOnly = body.endsWith('/');
    if (folderOnly) body = body.slice(0, -1);
    if (body === '' || body === '/') continue;
    if (!body.includes('/')) rules.push({keep, folderOnly, name: nameMatcher(body)});
    else if (!/(?:^|\/)\.{1,2}(?:\/|$)|\/\//.test(body)) {
      // Paths have no such components. Braces are literal in ignore files.
      const path = globPattern(body.replace(/[{}]/g, '\\$&'));
      if (typeof path !== 'string') rules.push({keep, folderOnly, path});
    }
  }
  return rules;
}

function textOf(folder: Folder, name: string): string {
  try {
    const file = openIn(folder, name);
    if (!file) return '';
    try {
      const bytes = Buffer.alloc(Math.min(file.stat.size, MOST_BYTES));
      return bytes.toString('utf8', 0, readSync(file.fd, bytes));
    } finally {
      closeSync(file.fd);
    }
  } catch {
    return '';
  }
}
