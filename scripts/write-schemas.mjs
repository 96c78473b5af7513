// npm run schemas: writes schemas/*.json from the definitions in src/formats, docs/tools.md from the table of tools, and
// man/agentdir.1 from the commands.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {toolsPage} from '../dist/effects/tools/page.js';
import {schemaNames, schemaText} from '../dist/formats/schemas.js';
import {buildCommands} from '../dist/surfaces/cli/commands.js';
import {manPage} from '../dist/surfaces/cli/man-page.js';

for (const name of schemaNames) writeFileSync(new URL(`../schemas/${name}.json`, import.meta.url), schemaText(name));
writeFileSync(new URL('../docs/tools.md', import.meta.url), toolsPage());
mkdirSync(new URL('../man', import.meta.url), {recursive: true});
const {version} = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
writeFileSync(new URL('../man/agentdir.1', import.meta.url), manPage(buildCommands({version}, () => {})));
