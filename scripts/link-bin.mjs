// After a build: make dist/main.js executable, and link it where npx looks first, so that `npx agentdir` in the checkout
// runs this very build, at once and offline. (npm links the bins of dependencies, never the package's own.)
import {chmodSync, existsSync, rmSync, symlinkSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const root = new URL('../', import.meta.url);
chmodSync(new URL('dist/main.js', root), 0o755);

const bin = new URL('node_modules/.bin/', root);
if (existsSync(bin) && process.platform !== 'win32') {
  const link = fileURLToPath(new URL('agentdir', bin));
  rmSync(link, {force: true});
  symlinkSync('../../dist/main.js', link);
}
