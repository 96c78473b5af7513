// npm run simulate -- [--rotations] [--seeds N] [--from S] [--seed S,S…] [--whole] [--break WHAT] [--every N]: histories of a home, each from its seed (docs/simulation.md).
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {brokenSource} from '../test/simulation/broken-source.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Longer than any run takes. */
const KEPT_MS = 6 * 60 * 60_000;
const broken = brokenSource[process.argv[process.argv.indexOf('--break') + 1]] ?? [];
/** Puts faults into the source, on purpose. */
const breaking = {
  name: 'break',
  transform(code, id) {
    let text = code;
    for (const {file, from, to} of broken) {
      if (id !== root + file) continue;
      if (!text.includes(from))
        throw new Error(`test/simulation/broken-source.mjs is out of date: ${file} has no ${from}`);
      text = text.replace(from, to);
    }
    return text === code ? undefined : text;
  },
};
/** A digest of everything that the bundle is made from. */
function fingerprint() {
  const hash = createHash('sha256').update(JSON.stringify(broken));
  for (const folder of ['src', 'test/simulation', 'scripts/simulate.mjs', 'package-lock.json'])
    for (const path of filesIn(join(root, folder)))
      hash.update(`${path.slice(root.length)}\0`).update(readFileSync(path));
  return hash.digest('hex').slice(0, 20);
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  const entries = readdirSync(path, {recursive: true, withFileTypes: true});
  return entries.flatMap(entry => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort();
}

async function build(file) {
  const {rolldown} = await import('rolldown');
  const external = /^(?:node:|fs-native-extensions$|@slack\/|imapflow$|nodemailer$)/;
  const bundle = await rolldown({
    input: `${root}test/simulation/main.ts`,
    platform: 'node',
    external,
    plugins: [breaking],
    logLevel: 'silent',
  });
  await bundle.write({file, format: 'esm', codeSplitting: false});
  await bundle.close();
}

// Kept for the next run of the same source, beside the packages, so that what is not bundled is found.
const kept = join(root, 'node_modules/.simulate');
const program = join(kept, `${fingerprint()}.mjs`);
if (!existsSync(program)) {
  mkdirSync(kept, {recursive: true});
  const fresh = join(kept, `${process.pid}-${Date.now()}.mjs`);
  await build(fresh);
  renameSync(fresh, program);
  for (const name of readdirSync(kept))
    if (Date.now() - statSync(join(kept, name)).mtimeMs > KEPT_MS) rmSync(join(kept, name), {force: true});
}
await import(pathToFileURL(program).href);
