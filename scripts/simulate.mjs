// npm run simulate -- [--rotations] [--seeds N] [--from S] [--seed S,S…] [--whole] [--break WHAT] [--every N]: histories of a home, each from its seed (docs/simulation.md).
import {mkdtempSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {rolldown} from 'rolldown';
import {brokenSource} from '../test/simulation/broken-source.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
// Beside the packages, so that what is not bundled is found.
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
const dir = mkdtempSync(join(root, 'node_modules', '.simulate-'));
try {
  const external = /^(?:node:|fs-native-extensions$|@slack\/|imapflow$|nodemailer$)/;
  const bundle = await rolldown({
    input: `${root}test/simulation/main.ts`,
    platform: 'node',
    external,
    plugins: [breaking],
    logLevel: 'silent',
  });
  await bundle.write({file: join(dir, 'main.mjs'), format: 'esm', codeSplitting: false});
  await bundle.close();
  await import(pathToFileURL(join(dir, 'main.mjs')).href);
} finally {
  rmSync(dir, {recursive: true, force: true});
}
