import {execFileSync} from 'node:child_process';
import {cpSync, readdirSync, readFileSync, statSync} from 'node:fs';
import {wrap} from 'node:module';
import {join} from 'node:path';
import {Script} from 'node:vm';
import {describe, expect, it} from 'vitest';
import {root, temporary} from './cli/run.ts';

const bin = join(root, 'bin');

describe('compiled code beside the program', () => {
  const codes = readdirSync(bin, {recursive: true, encoding: 'utf8'}).filter(name => name.endsWith('.code'));

  it('is there for what a daemon and chat load, and V8 takes it', () => {
    const loaded = ['program.js', ...['daemon.js', 'look.js', 'run-chat.js'].map(name => `chunks/${name}`)];
    expect(codes).toEqual(expect.arrayContaining(loaded.map(name => `${name}.code`)));
    // Node takes longer to load what fetches than chat to draw its first screen.
    expect(readFileSync(join(bin, 'chunks/run-chat.js'), 'utf8')).not.toContain('typeof fetch');
    const rejected = codes.filter(name => {
      const file = join(bin, name.replace(/\.code$/, ''));
      const script = new Script(wrap(readFileSync(file, 'utf8')), {cachedData: readFileSync(join(bin, name))});
      return script.cachedDataRejected;
    });
    expect(rejected).toEqual([]);
  });

  it('is not loaded by a thread that needs none of the parsers', () => {
    const needed = (file: string, seen = new Set<string>()): Set<string> => {
      for (const [, name = ''] of readFileSync(join(bin, 'chunks', file), 'utf8').matchAll(/require\("\.\/([^"]+)"\)/g))
        if (!seen.has(name)) needed(name, seen.add(name));
      return seen;
    };
    const loaded = [...needed('sql-thread.js')].reduce(
      (sum, name) => sum + statSync(join(bin, 'chunks', name)).size,
      0,
    );
    expect(loaded).toBeLessThan(30_000);
  });

  it('is not needed', async () => {
    const copy = temporary();
    cpSync(bin, join(copy, 'bin'), {recursive: true, filter: name => !name.endsWith('.code')});
    cpSync(join(root, 'package.json'), join(copy, 'package.json'));
    const told = execFileSync(process.execPath, [join(copy, 'bin/main.js'), '--version'], {encoding: 'utf8'});
    expect(told).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
