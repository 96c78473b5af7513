// npm run build: src/ → dist/ → bin/, unless bin/ was made from the same source by the same Node. `npm ci && npm test` builds once.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** What the current program was built from. */
const stamp = join(root, 'bin/.built-from');
const outputs = ['dist/index.js', 'dist/main.js', 'bin/main.js', 'bin/program.js', 'bin/chunks'];

const source = fingerprint();
if (isBuilt()) {
  console.log('up to date');
} else {
  // What was renamed or removed in src/ must not stay in dist/, to be imported or shipped.
  for (const folder of ['dist', 'bin']) rmSync(join(root, folder), {recursive: true, force: true});
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {cwd: root, stdio: 'inherit'});
  execFileSync(process.execPath, ['scripts/bundle.mjs'], {cwd: root, stdio: 'inherit'});
  writeFileSync(stamp, source);
}

function isBuilt() {
  if (!outputs.every(path => existsSync(join(root, path)))) return false;
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === source;
}

/** A digest of everything that the build reads, and of the Node whose code cache bin/ holds. */
function fingerprint() {
  const hash = createHash('sha256').update(process.versions.v8).update(process.version);
  const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  for (const folder of ['src', 'scripts'])
    for (const entry of readdirSync(join(root, folder), {recursive: true, withFileTypes: true}))
      if (entry.isFile()) files.push(join(entry.parentPath, entry.name).slice(root.length));
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}
