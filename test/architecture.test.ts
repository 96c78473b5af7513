import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, posix} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The table of ARCHITECTURE.md: what each folder (or file of src/) may import from src/. */
const mayImport: Record<string, readonly string[]> = {
  formats: [],
  policy: ['formats'],
  check: ['formats', 'policy'],
  decide: ['formats', 'policy'],
  home: ['formats'],
  loop: ['formats', 'check', 'home'],
  agents: ['loop', 'decide', 'policy', 'check', 'formats', 'home', 'query', 'effects', 'runners'],
  workflows: ['agents', 'loop', 'decide', 'check', 'formats', 'home', 'effects'],
  effects: ['formats', 'policy', 'decide'],
  runners: ['effects', 'formats', 'policy'],
  query: ['formats', 'check'],
  daemon: ['agents', 'workflows', 'loop', 'check', 'formats', 'home', 'effects', 'runners'],
  surfaces: ['query', 'formats', 'home', 'policy', 'check'],
  index: ['formats', 'policy', 'check'],
  main: ['daemon', 'surfaces', 'formats', 'home'],
};

/** Of these only types: nothing that runs. */
const mayImportTypes: Record<string, readonly string[]> = {effects: ['decide']};

/** Of these only some folders. */
const mayImportOf: Record<string, Record<string, RegExp>> = {
  surfaces: {
    effects: /^src\/effects\/(?:(?:sandbox|workspace|signature|web)\/|model\/ollama\.ts$|tools\/prepare-call\.ts$)/,
    decide: /^src\/decide\/(turn|taint|standing|context|context-versions|request-batch|compact-plan)\.ts$/,
  },
  effects: {home: /^src\/home\/(git|disk)\/[\w-]+\.ts$/},
  runners: {home: /^src\/home\/disk\/crash\.ts$/},
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

  it('no two folders import each other', () => {
    const imports = new Map<string, string>();
    for (const [path, targets] of graph)
      for (const target of targets)
        if (dirname(path) !== dirname(target))
          imports.set(`${dirname(path)} ${dirname(target)}`, `${path} imports ${target}`);
    for (const [pair, example] of imports) {
      const [from = '', to = ''] = pair.split(' ');
      const back = imports.get(`${to} ${from}`);
      expect(back && `${example}, and ${back}`).toBeUndefined();
    }
  });

  it('effects import only types of decide', () => {
    for (const path of files.filter(p => p.startsWith('src/effects/')))
      expect(readFileSync(join(root, path), 'utf8'), path).not.toMatch(/import (?!type\b)[^;]*decide\//);
  });

  it('formats, policy, check and decide are pure: no file system, processes, network or clock', () => {
    for (const path of files.filter(p => /^src\/(formats|policy|check|decide)\//.test(p))) {
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
      expect(page).toMatch(new RegExp(`^\\|[^|]*\`${folder.name}\`[^|]*\\|`, 'm'));
  });
});

describe('names', () => {
  it('each exported name has one meaning: it is declared in one file', () => {
    const declaration = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm;
    const declaredIn = new Map<string, Set<string>>();
    for (const path of files)
      for (const [, name = ''] of readFileSync(join(root, path), 'utf8').matchAll(declaration))
        declaredIn.set(name, (declaredIn.get(name) ?? new Set()).add(path));
    const several = [...declaredIn].filter(([, paths]) => paths.size > 1);
    expect(several.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)).toEqual([]);
  });
});
