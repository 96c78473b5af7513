// dist/ → bin/: the program in a few files instead of hundreds, because loading modules is most of a command's start.
import {chmodSync, rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

rmSync(`${root}bin`, {recursive: true, force: true});
// Connectors are loaded by those who use them, from their packages.
const external = /^(?:node:|@slack\/|imapflow$|nodemailer$)/;
const bundle = await rolldown({input: `${root}dist/main.js`, platform: 'node', external});
await bundle.write({dir: `${root}bin`, format: 'esm', entryFileNames: 'main.js', chunkFileNames: 'chunks/[name].js'});
await bundle.close();
chmodSync(`${root}bin/main.js`, 0o755);
