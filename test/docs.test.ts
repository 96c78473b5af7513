import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {codes} from '../src/errors.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

function below(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), {withFileTypes: true}).flatMap(entry =>
    entry.isDirectory()
      ? below(`${folder}/${entry.name}`, ending)
      : entry.name.endsWith(ending)
        ? [`${folder}/${entry.name}`]
        : [],
  );
}

const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...below('docs', '.md')];

describe('the docs', () => {
  it('list every diagnostic code with its severity', () => {
    const page = read('docs/formats/problems.md');
    for (const [code, severity] of Object.entries(codes))
      expect(
        page.split('\n').find(line => line.includes(`\`${code}\``)),
        code,
      ).toContain(severity);
  });

  it('name the two commands that do all set-up', () => {
    expect(read('README.md')).toContain('npm ci && npm start');
    expect(read('README.md')).toContain('npm ci && npm test');
  });

  it('show every source file in ARCHITECTURE.md', () => {
    const page = read('ARCHITECTURE.md');
    for (const path of below('src', '.ts')) expect(page, path).toContain(path.slice(path.lastIndexOf('/') + 1));
  });

  it.each(pages)('%s has no dead links', page => {
    for (const [, target = ''] of read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
      expect(existsSync(join(root, dirname(page), target)), `${page} → ${target}`).toBe(true);
    }
  });

  it('name only tests that exist', () => {
    for (const page of pages) {
      for (const [path] of read(page).matchAll(/test\/[\w/-]+\.test\.ts/g))
        expect(existsSync(join(root, path)), `${page}: ${path}`).toBe(true);
    }
  });
});
