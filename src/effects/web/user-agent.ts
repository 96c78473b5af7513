import {existsSync, readFileSync} from 'node:fs';

let made: string | undefined;

/** `agentdir/<version>`, and nothing of the machine. */
export function userAgent(): string {
  made ??= `agentdir/${version()}`;
  return made;
}

/** Of the package that this file is a part of, bundled or not. */
function version(): string {
  for (let folder = new URL('.', import.meta.url); folder.pathname !== '/'; folder = new URL('..', folder)) {
    const path = new URL('package.json', folder);
    if (existsSync(path)) return (JSON.parse(readFileSync(path, 'utf8')) as {version: string}).version;
  }
  return '0';
}
