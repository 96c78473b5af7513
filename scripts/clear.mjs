// dist/ as src/ is: what was renamed or removed there does not stay here, to be imported or shipped.
import {rmSync} from 'node:fs';

rmSync(new URL('../dist', import.meta.url), {recursive: true, force: true});
