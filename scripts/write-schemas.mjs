// npm run schemas: writes schemas/*.json from the definitions in src/files, and docs/tools.md from the table of tools.
import {writeFileSync} from 'node:fs';
import {toolsPage} from '../dist/effects/tools/page.js';
import {schemaNames, schemaText} from '../dist/files/schemas.js';

for (const name of schemaNames) writeFileSync(new URL(`../schemas/${name}.json`, import.meta.url), schemaText(name));
writeFileSync(new URL('../docs/tools.md', import.meta.url), toolsPage());
