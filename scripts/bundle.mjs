// dist/ → bin/: the program in a few files instead of hundreds, because loading modules is most of a command's start.
import {chmodSync, copyFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';
import {makeCode} from './code-cache.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = `${root}bin`;

rmSync(bin, {recursive: true, force: true});
// Connectors are loaded by those who use them, from their packages, and so is what is not JavaScript.
const external = /^(?:node:|fs-native-extensions$|@slack\/|imapflow$|nodemailer$)/;
const measuring = /\/dist\/surfaces\/|\/node_modules\/(?:ink|widest-line|cli-truncate|wrap-ansi)\//;
const lazyWidth = {
  name: 'lazy-string-width',
  resolveId: (id, importer) =>
    id === 'string-width' && measuring.test(importer ?? '') ? `${root}scripts/lazy-string-width.cjs` : undefined,
};
// The screen of chat. ink's layout engine is compiled asynchronously: nothing in CommonJS can wait for that while it loads, so chat waits
// before it draws. ink draws in CI as elsewhere, and has no developer tools.
const engine = `${root}scripts/layout-engine.mjs`;
const inkInBundle = {
  name: 'ink-in-bundle',
  resolveId: id => {
    if (id === 'yoga-layout') return engine;
    if (id === 'is-in-ci') return '\0never-in-ci';
    return id.endsWith('/layout-engine.js') ? engine : undefined;
  },
  load: id => (id === '\0never-in-ci' ? 'export default false;' : undefined),
  transform: (code, id) => {
    if (id.endsWith('/ink/build/reconciler.js'))
      return code.replace("await import('./devtools.js')", '0').replace('await loadPackageJson()', '{}');
    // The engine is in the file: nothing is fetched, and loading what fetches takes longer than the engine.
    return id.endsWith('/yoga-wasm-base64-esm.js') ? code.replaceAll('"function"!=typeof fetch', 'true') : undefined;
  },
};
const bundle = await rolldown({
  input: `${root}dist/main.js`,
  platform: 'node',
  external,
  plugins: [lazyWidth, inkInBundle],
  transform: {define: {'process.env.NODE_ENV': '"production"'}},
});
// CommonJS, because Node 20 keeps no compiled code of anything else.
// What nearly all share is not in the first file, or threads would load that, too.
const codeSplitting = {
  groups: [
    {name: 'shared', test: /rolldown.runtime|dist.(?:formats.common.errors|home.locate)\.js$/},
    {name: 'tables', test: /dist.query.tables\.js$/},
  ],
};
const names = {entryFileNames: 'program.js', chunkFileNames: 'chunks/[name].js'};
// V8 forgets with the code of a file how that imports others: it requires them.
await bundle.write({dir: bin, format: 'cjs', dynamicImportInCjs: false, codeSplitting, ...names});
await bundle.close();
writeFileSync(`${bin}/package.json`, '{"type": "commonjs"}\n');
copyFileSync(`${root}dist/launch.cjs`, `${bin}/main.js`);
chmodSync(`${bin}/main.js`, 0o755);
// Its name in a checkout, for PATH. `npx agentdir` there would first install the checkout anew, over the network.
symlinkSync('main.js', `${bin}/agentdir`);
makeCode(bin);
