import {readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import type {FoundFile} from './findings.ts';

/** File in the git-dir with permissions of files that not everybody may read, by name. Git does not keep these. */
const FILE = 'agentdir-permissions';
const MAX_FILES = 20_000;

/** Update the permissions of these files. Deleted files keep theirs, because they may come back. */
export function keepPermissions(gitDir: string, files: readonly FoundFile[]): void {
  const seen = files.flatMap(({name, content}) =>
    content?.permissions === undefined ? [] : [{name, may: content.permissions & 0o666}],
  );
  if (seen.length === 0) return;
  const known = read(gitDir);
  let differs = false;
  for (const {name, may} of seen) {
    const isUsual = (may & 0o644) === 0o644;
    if (isUsual ? !known.has(name) : known.get(name) === may) continue;
    differs = true;
    if (isUsual) known.delete(name);
    else if (known.size < MAX_FILES) known.set(name, may);
  }
  if (!differs) return;
  const path = join(gitDir, FILE);
  writeFileSync(`${path}.new`, JSON.stringify(Object.fromEntries(known)));
  renameSync(`${path}.new`, path);
}

/** Undefined: default permissions. */
export function keptPermissions(gitDir: string, name: string): number | undefined {
  return read(gitDir).get(name);
}

function read(gitDir: string): Map<string, number> {
  try {
    const text = readFileSync(join(gitDir, FILE), 'utf8');
    const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return new Map(entries.flatMap(([name, may]) => (typeof may === 'number' ? [[name, may & 0o666]] : [])));
  } catch {
    return new Map();
  }
}
