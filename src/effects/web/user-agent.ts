import {existsSync, readFileSync} from 'node:fs';

let made: string | undefined;

/** `agentdir/<version>`, and nothing of the machine. */
export function userAgent(): string {
  made ??= `agentdir/${version()}`;
  return made;
}

/** Of the package that this file is a part of, bundled or not: the folder of the bundle has a package.json without one. */
function version(): string {
  for (let folder = new URL('.', import.meta.url); folder.pathname !== '/'; folder = new URL('..', folder)) {
    const path = new URL('package.json', folder);
    if (!existsSync(path)) continue;
    const {version} = JSON.parse(readFileSync(path, 'utf8')) as {version?: string};
    if (version !== undefined) return version;
  }
  return '0';
}
