import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, posix} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The table of ARCHITECTURE.md: what each folder (or file of src/) may import from src/. */
const mayImport: Record<string, readonly string[]> = {
  files: ['errors'],
  policy: ['files', 'errors'],
  check: ['files', 'policy', 'errors'],
  store: ['files', 'errors'],
  reconcile: ['files', 'policy', 'errors'],
  effects: ['files', 'policy', 'errors', 'config', 'reconcile'],
  query: ['files', 'check', 'errors'],
  surfaces: ['query', 'files', 'store', 'policy', 'check', 'errors', 'config', 'load', 'happening'],
  errors: [],
  config: ['files', 'errors'],
  load: ['check', 'files', 'store'],
  happening: ['files'],
  queue: ['store'],
  runners: ['effects', 'files', 'policy', 'config'],
  serve: [
    'query',
    'runners',
    'files',
    'store',
    'check',
    'policy',
    'reconcile',
    'effects',
    'errors',
    'config',
    'happening',
    'queue',
  ],
  daemon: ['store', 'check', 'effects', 'errors', 'happening', 'queue', 'runners', 'serve'],
  index: ['files', 'policy', 'check', 'errors'],
  main: ['daemon', 'surfaces', 'errors', 'store'],
};

/** Of these only types: nothing that runs. */
const mayImportTypes: Record<string, readonly string[]> = {effects: ['reconcile']};

/** Of these only some folders. */
const mayImportOf: Record<string, Record<string, RegExp>> = {
  surfaces: {
    effects: /^src\/effects\/(sandbox|workspace|signature|web)\//,
    reconcile: /^src\/reconcile\/(turn|taint|mentions)\.ts$/,
  },
  effects: {store: /^src\/store\/(git\/[\w-]+|disk|lock|process-life|crash)\.ts$/},
  runners: {store: /^src\/store\/crash\.ts$/},
};

/** Folders within these: what each may import of its neighbours. What lies beside the folders is for all of them. */
const within: Record<string, Record<string, readonly string[]>> = {
  files: {
    yaml: [],
    session: ['yaml'],
    task: [],
    approval: ['task'],
    merge: ['yaml', 'session', 'task', 'approval'],
    undo: ['session', 'task', 'approval', 'merge'],
  },
  policy: {command: [], redact: []},
};

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), {withFileTypes: true}).flatMap(entry =>
    entry.isDirectory()
      ? sources(`${folder}/${entry.name}`)
      : /\.tsx?$/.test(entry.name)
        ? [`${folder}/${entry.name}`]
        : [],
  );
}

function unit(path: string): string {
  return (path.split('/')[1] ?? '').replace(/\.tsx?$/, '');
}

function importsOf(path: string): string[] {
  const types = mayImportTypes[unit(path)] ?? [];
  const text = readFileSync(join(root, path), 'utf8').replace(/^import type .* from '([^']+)';$/gm, (line, target) =>
    types.includes(unit(posix.normalize(posix.join(dirname(path), target)))) ? '' : line,
  );
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(match =>
    posix.normalize(posix.join(dirname(path), match[1] ?? '')),
  );
}

const files = sources('src');
const graph = new Map(files.map(path => [path, importsOf(path)]));

describe('import directions', () => {
  it.each(files)('%s imports only what its folder may', path => {
    const from = unit(path);
    const allowed = mayImport[from];
    expect(allowed, `src/${from} is not in the table of ARCHITECTURE.md`).toBeDefined();
    for (const target of graph.get(path) ?? []) {
      const to = unit(target);
      const part = mayImportOf[from]?.[to];
      if (part) expect(target, `${path} imports ${target}`).toMatch(part);
      else if (to !== from) expect(allowed, `${path} imports ${target}`).toContain(to);
    }
  });

  it('folders within a folder import in one direction', () => {
    for (const path of files) {
      const [, top = '', folder = '', name] = path.split('/');
      const allowed = name === undefined ? undefined : within[top]?.[folder];
      for (const target of allowed ? (graph.get(path) ?? []) : []) {
        const [, to, other = '', inner] = target.split('/');
        if (to === top && inner !== undefined && other !== folder)
          expect(allowed, `${path} imports ${target}`).toContain(other);
      }
    }
  });

  it('effects import only types of reconcile', () => {
    for (const path of files.filter(p => p.startsWith('src/effects/')))
      expect(readFileSync(join(root, path), 'utf8'), path).not.toMatch(/import (?!type\b)[^;]*reconcile\//);
  });

  it('files, policy, check and reconcile are pure: no file system, processes, network or clock', () => {
    for (const path of files.filter(p => /^src\/(files|policy|check|reconcile)\//.test(p))) {
      const text = readFileSync(join(root, path), 'utf8');
      expect(text, path).not.toMatch(/from 'node:(?!util'|crypto')/);
      expect(text, path).not.toMatch(/\bDate\.now\(\)|new Date\(\)|Math\.random\(|\bprocess\./);
    }
  });

  it('has no cycles', () => {
    const done = new Set<string>();
    const visit = (path: string, trail: string[]): void => {
      expect(trail, `cycle: ${[...trail, path].join(' → ')}`).not.toContain(path);
      if (done.has(path)) return;
      for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
      done.add(path);
    };
    for (const path of files) visit(path, []);
  });

  it('the table in ARCHITECTURE.md names every folder of src', () => {
    const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    for (const folder of readdirSync(join(root, 'src'), {withFileTypes: true}).filter(entry => entry.isDirectory()))
      expect(page).toContain(`| \`${folder.name}\` |`);
  });
});
