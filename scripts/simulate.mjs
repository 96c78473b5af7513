// npm run simulate -- [--seeds N] [--from S] [--seed S] [--shrink]: histories of a home, each from its seed (docs/simulation.md).
import {mkdtempSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {rolldown} from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
// Beside the packages, so that what is not bundled is found.
const dir = mkdtempSync(join(root, 'node_modules', '.simulate-'));
try {
  const external = /^(?:node:|fs-native-extensions$|@slack\/|imapflow$|nodemailer$)/;
  const bundle = await rolldown({
    input: `${root}test/simulation/main.ts`,
    platform: 'node',
    external,
    logLevel: 'silent',
  });
  await bundle.write({file: join(dir, 'main.mjs'), format: 'esm', codeSplitting: false});
  await bundle.close();
  await import(pathToFileURL(join(dir, 'main.mjs')).href);
} finally {
  rmSync(dir, {recursive: true, force: true});
}
