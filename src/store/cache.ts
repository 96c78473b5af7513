import {mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {crashPoint} from './crash.ts';
import {temporaryBeside} from './temporary.ts';

/** Read a derived file; undefined if it is missing, torn, or of another version. Whatever it held can be derived again. */
export function readCache<T>(path: string, version: string): T | undefined {
  try {
    const {version: found, value} = JSON.parse(readFileSync(path, 'utf8')) as {version: string; value: T};
    return found === version ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `value` is JSON already: whoever has much of it makes it bit by bit. */
export function writeCache(path: string, version: string, value: string): void {
  writeDerived(path, `{"version":${JSON.stringify(version)},"value":${value}}`);
}

/** Put a derived file in place whole, or leave it as it was and throw. It is not made durable: a crash costs the time to derive it again. */
export function writeDerived(path: string, text: string): void {
  mkdirSync(dirname(path), {recursive: true});
  const temp = temporaryBeside(path);
  try {
    writeFileSync(temp, text);
    crashPoint('cache-write');
    renameSync(temp, path);
  } catch (error) {
    rmSync(temp, {force: true});
    throw error;
  }
}
