import {readdirSync, readFileSync} from 'node:fs';

/** Command lines that must not run by themselves under any of `rules`, however loose these are. */
export interface AttackGroup {
  rules: readonly string[];
  lines: readonly string[];
}

export interface AttackFile {
  name: string;
  groups: readonly AttackGroup[];
}

const folder = new URL('attacks/', import.meta.url);

/**
 * Read a file of attacks/. `## ls * + cat *` begins a group and names its allow rules, `#` begins a comment, and
 * `json: "a\nb"` is a line that cannot be written as it is. Every other line is an attack.
 */
export function parseAttacks(text: string): AttackGroup[] {
  const groups: {rules: string[]; lines: string[]}[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) groups.push({rules: line.slice(3).split(' + '), lines: []});
    else if (line !== '' && !/^#( |$)/.test(line)) groups.at(-1)?.lines.push(unquoted(line));
  }
  return groups;
}

function unquoted(line: string): string {
  return line.startsWith('json: ') ? (JSON.parse(line.slice('json: '.length)) as string) : line;
}

function readAttacks(name: string): AttackFile {
  return {name, groups: parseAttacks(readFileSync(new URL(name, folder), 'utf8'))};
}

const WITHOUT_SANDBOX = 'without-sandbox.txt';

/** Attacks by file: each must ask or be denied, with a sandbox and without one. */
export const attacks: readonly AttackFile[] = readdirSync(folder)
  .filter(name => name.endsWith('.txt') && name !== WITHOUT_SANDBOX)
  .sort()
  .map(readAttacks);

/** Lines that may run in the sandbox and must ask without one, in a workspace with links that lead out of it. */
export const attacksWithoutSandbox: AttackFile = readAttacks(WITHOUT_SANDBOX);

/** Every allow rule that an attack is judged by. */
export const looseRules: readonly string[] = [
  ...new Set([...attacks, attacksWithoutSandbox].flatMap(({groups}) => groups.flatMap(({rules}) => rules))),
];
