// npm run schemas: writes schemas/*.json from the definitions in src/files.
import {writeFileSync} from 'node:fs';
import {schemaNames, schemaText} from '../dist/files/schemas.js';

for (const name of schemaNames) writeFileSync(new URL(`../schemas/${name}.json`, import.meta.url), schemaText(name));
