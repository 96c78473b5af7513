// npm run fuzz: test/fuzz/main.ts, bundled to a temporary file, because node does not run TypeScript.
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const dir = mkdtempSync(join(tmpdir(), 'agentdir-fuzz-'));
process.once('exit', () => rmSync(dir, {recursive: true, force: true}));
const bundle = await rolldown({input: 'test/fuzz/main.ts', platform: 'node', external: /^node:/});
await bundle.write({file: join(dir, 'main.mjs'), format: 'esm'});
await bundle.close();
await import(join(dir, 'main.mjs'));
