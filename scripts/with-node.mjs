#!/usr/bin/env node
/**
 * The build and some tests with another Node: its binary comes from the npm package `node`, and is kept where temporary files
 * outlive a restart.
 *
 *   npm run test:node 22                  a copy of the checkout is built with it, and smoke tests are run
 *   npm run test:node 24 test/policy      other tests
 *   npm run test:node 22 -- --no-build    in place, with the program that is there
 *
 * Exit code 3: that Node could not be installed.
 */
import {execFileSync, spawnSync} from 'node:child_process';
import {copyFileSync, existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [major, ...rest] = process.argv.slice(2);
const named = rest.filter(word => word !== '--no-build');
const tests = named.length > 0 ? named : ['test/cli/init.test.ts', 'test/cli/first-approval.test.ts'];
const CANNOT_INSTALL = 3;

if (!/^\d+$/.test(major ?? '')) fail('which Node? as in: npm run test:node 22', 2);
const node = nodeOf(major) ?? fail(`Node ${major} could not be installed from the npm package "node"`, CANNOT_INSTALL);
const env = {...process.env, PATH: `${dirname(node)}:${process.env.PATH}`};
console.log(`Node ${major} is ${execFileSync(node, ['--version'], {encoding: 'utf8'}).trim()}`);
if (rest.includes('--no-build')) process.exit(test(root));
const copy = copyOfCheckout();
try {
  const built = spawnSync('npm', ['run', 'build'], {cwd: copy, env, stdio: 'inherit'});
  process.exitCode = built.status === 0 ? test(copy) : 1;
} finally {
  rmSync(copy, {recursive: true, force: true});
}

function test(cwd) {
  // The runner is started by that Node, and so is every program that tests run.
  const runner = join(root, 'node_modules/vitest/vitest.mjs');
  // One worker loads what both files need once.
  return spawnSync(node, [runner, 'run', '--maxWorkers=1', ...tests], {cwd, env, stdio: 'inherit'}).status ?? 1;
}

/** Its binary, installed if it is not there yet; undefined if that cannot be. */
function nodeOf(version) {
  const kept = existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
  const folder = join(kept, `agentdir-node-${version}-${process.getuid?.() ?? 0}`);
  const binary = join(folder, 'node_modules/node/bin/node');
  if (runs(binary)) return binary;
  const fresh = mkdtempSync(`${folder}-`);
  const words = [
    'install',
    '--no-save',
    '--no-package-lock',
    '--no-audit',
    '--no-fund',
    '--prefix',
    fresh,
    `node@${version}`,
  ];
  const installed = spawnSync('npm', words, {cwd: fresh, stdio: ['ignore', 'ignore', 'pipe'], timeout: 120_000});
  if (installed.status === 0 && runs(join(fresh, 'node_modules/node/bin/node'))) {
    rmSync(folder, {recursive: true, force: true});
    renameSync(fresh, folder);
    return binary;
  }
  rmSync(fresh, {recursive: true, force: true});
  return undefined;
}

function runs(binary) {
  return existsSync(binary) && spawnSync(binary, ['--version']).status === 0;
}

function copyOfCheckout() {
  const copy = mkdtempSync(join(tmpdir(), 'agentdir-with-node-'));
  const listed = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], {cwd: root, encoding: 'utf8'});
  for (const path of listed.split('\0')) {
    if (path === '' || !lstatSync(join(root, path), {throwIfNoEntry: false})) continue;
    mkdirSync(dirname(join(copy, path)), {recursive: true});
    copyFileSync(join(root, path), join(copy, path));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function fail(why, code) {
  console.error(`with-node: ${why}`);
  process.exit(code);
}
