import {execFile} from 'node:child_process';
import {chmodSync, lstatSync, mkdirSync, openSync} from 'node:fs';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {systemPath} from './environment.ts';

/**
 * Programs confined as root keep root's rights over files: `chmod /dev/null` inside would break it for the whole
 * machine. They get copies of the devices in this folder, created once and reset before each run.
 */
const folder = '/dev/agentdir';
const numbers = {null: 3, zero: 5, full: 7, random: 8, urandom: 9};

let known: Promise<boolean> | undefined;

/** Whether device copies exist. Only root needs copies; false also where devices cannot be created. */
export function haveCopies(): Promise<boolean> {
  known ??= process.getuid?.() === 0 ? make().catch(() => false) : Promise.resolve(false);
  return known;
}

async function make(): Promise<boolean> {
  mkdirSync(folder, {recursive: true, mode: 0o755});
  const missing = Object.entries(numbers).filter(([name]) => !lstatSync(join(folder, name), {throwIfNoEntry: false}));
  const env = {PATH: systemPath.join(':')};
  // Another daemon may have created the device meanwhile.
  for (const [name, minor] of missing)
    await promisify(execFile)('mknod', [join(folder, name), 'c', '1', String(minor)], {env}).catch(() => {});
  return Object.keys(numbers).every(name => lstatSync(join(folder, name)).isCharacterDevice());
}

/** Bubblewrap arguments that mount the copies. /dev/tty is made read-only, so it cannot be opened. */
export function coverDevices(): string[] {
  return [
    ...Object.keys(numbers).flatMap(name => {
      const path = join(folder, name);
      chmodSync(path, 0o666);
      return ['--dev-bind', path, join('/dev', name)];
    }),
    ...['--remount-ro', '/dev/tty'],
  ];
}

let nothing: number | undefined;

/** An open /dev/null, as stdin for programs. */
export async function nullDevice(): Promise<number> {
  const path = (await haveCopies()) ? join(folder, 'null') : '/dev/null';
  nothing ??= openSync(path, 'r+');
  return nothing;
}
