#!/usr/bin/env node
/**
 * What bin/main.js is: loads the bundled program beside it with the code that V8 made of it when it was built
 * (scripts/code-cache.mjs). Compiling it was a third of a command's start. Code of another V8, or none, is as if there were
 * no cache.
 */
const {readFileSync} = require('node:fs') as typeof import('node:fs');
const Module = require('node:module') as {
  wrap(source: string): string;
  prototype: {_compile(this: NodeJS.Module, source: string, file: string, ...more: unknown[]): unknown};
};
const {dirname, join} = require('node:path') as typeof import('node:path');
const vm = require('node:vm') as typeof import('node:vm');

type Run = (exports: unknown, require: NodeJS.Require, module: NodeJS.Module, file: string, folder: string) => unknown;

const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const compile = Module.prototype._compile;

Module.prototype._compile = function (source, file, ...more) {
  if (!file.startsWith(__dirname)) return compile.call(this, source, file, ...more);
  const options = {filename: file, cachedData: codeOf(file), importModuleDynamically};
  const script = new vm.Script(Module.wrap(source), options);
  const run = script.runInThisContext() as Run;
  const load = Object.assign((id: string) => this.require(id), require);
  return run.call(this.exports, this.exports, load, this, file, dirname(file));
};

function codeOf(file: string): Buffer | undefined {
  try {
    return readFileSync(`${file}.code`);
  } catch {
    return undefined;
  }
}

void (require(join(__dirname, 'program.js')) as typeof import('./main.ts')).run();
