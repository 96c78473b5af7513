#!/usr/bin/env node
/**
 * What bin/main.js is: loads the bundled program beside it with the code that V8 made of it when it was built
 * (scripts/code-cache.mjs). Compiling it was a third of a command's start. Code of another V8, or none, is as if there were
 * no cache. Parts of the program load each other by their paths, without Node's search for where a module may be: that was a
 * sixth of what was left, for fifty of them.
 */
const {readFileSync} = require('node:fs') as typeof import('node:fs');
const Module = require('node:module') as typeof import('node:module') & {wrap(source: string): string};
const {dirname, join} = require('node:path') as typeof import('node:path');
const vm = require('node:vm') as typeof import('node:vm');

interface Part {
  exports: unknown;
}

type Run = (exports: unknown, require: NodeJS.Require, module: Part, file: string, folder: string) => unknown;

const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const parts = new Map<string, Part>();

/** As require does: once, and one that is asked for while it loads is given as far as it is. */
function load(file: string): unknown {
  const known = parts.get(file);
  if (known) return known.exports;
  const part: Part = {exports: {}};
  parts.set(file, part);
  const options = {filename: file, cachedData: codeOf(file), importModuleDynamically};
  const script = new vm.Script(Module.wrap(readFileSync(file, 'utf8')), options);
  const folder = dirname(file);
  const find = (id: string) => (id.startsWith('.') ? load(join(folder, id)) : require(id));
  (script.runInThisContext() as Run).call(part.exports, part.exports, Object.assign(find, require), part, file, folder);
  return part.exports;
}

function codeOf(file: string): Buffer | undefined {
  try {
    return readFileSync(`${file}.code`);
  } catch {
    return undefined;
  }
}

void (load(join(__dirname, 'program.js')) as typeof import('./main.ts')).run();
