import {lstatSync, readdirSync, readlinkSync, realpathSync, statSync} from 'node:fs';
import {join} from 'node:path';

/** The harmless part of /etc. Root inside could otherwise read even /etc/shadow. */
const settings = ['passwd', 'group', 'nsswitch.conf', 'hosts', 'ld.so.cache', 'alternatives'];
const networkSettings = [
  ...['resolv.conf', 'host.conf', 'gai.conf', 'services', 'protocols', 'mime.types', 'ssl/certs', 'ssl/openssl.cnf'],
  ...['ca-certificates', 'pki/tls/certs', 'pki/tls/cert.pem', 'pki/ca-trust/extracted', 'crypto-policies'],
];
/** Links into /usr on most machines; recreating a link is cheaper than a mount. */
const linked = ['localtime', 'os-release'];

/** Bubblewrap arguments for the read-only system that a confined program sees. */
export interface SystemMounts {
  args: string[];
  /** Folders of this machine that are visible inside under the same path. */
  roots: string[];
}

const known = new Map<boolean, SystemMounts>();

/** Computed once: system folders do not move while the daemon runs. */
export function systemMounts(network: boolean): SystemMounts {
  let mounts = known.get(network);
  if (!mounts) {
    mounts = {args: ['--ro-bind', '/usr', '/usr'], roots: ['/usr']};
    for (const folder of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) mountFolder(folder, mounts);
    for (const name of settings) mountSetting(name, mounts);
    for (const name of linked) linkSetting(name, mounts);
    for (const name of runtimes()) mountSetting(name, mounts);
    known.set(network, mounts);
  }
  if (!network) return mounts;
  const extra: SystemMounts = {args: [...mounts.args], roots: [...mounts.roots]};
  for (const name of networkSettings) mountSetting(name, extra);
  return extra;
}

function mountFolder(folder: string, mounts: SystemMounts): void {
  const stat = lstatSync(folder, {throwIfNoEntry: false});
  if (stat?.isSymbolicLink()) mounts.args.push('--symlink', readlinkSync(folder), folder);
  else if (stat?.isDirectory()) {
    mounts.args.push('--ro-bind', folder, folder);
    mounts.roots.push(folder);
  }
}

/** Mount the resolved file: resolv.conf is often a link into /run, which is absent inside. */
function mountSetting(name: string, mounts: SystemMounts): void {
  const path = join('/etc', name);
  try {
    const real = realpathSync(path);
    mounts.args.push('--ro-bind-try', real, path);
    if (statSync(real).isDirectory()) mounts.roots.push(path);
  } catch {
    // not on this machine
  }
}

function linkSetting(name: string, mounts: SystemMounts): void {
  const path = join('/etc', name);
  try {
    const real = realpathSync(path);
    if (real.startsWith('/usr/')) mounts.args.push('--symlink', real, path);
    else mounts.args.push('--ro-bind-try', real, path);
  } catch {
    // not on this machine
  }
}

/** Java does not start without its settings. */
function runtimes(): string[] {
  try {
    return readdirSync('/etc').filter(name => /^java-\d+-openjdk$/.test(name));
  } catch {
    return [];
  }
}

/**
 * Cover the parts of /proc that root owns and may write even without capabilities. /proc/sys matters most: its
 * `core_pattern` names a program that the kernel starts outside. Bubblewrap itself covers irq, bus and sysrq-trigger.
 */
export function procCovers(): string[] {
  if (process.getuid?.() !== 0) return [];
  covers ??= readdirSync('/proc', {withFileTypes: true})
    .filter(entry => !entry.isSymbolicLink() && !/^(\d+|irq|bus|sysrq-trigger)$/.test(entry.name))
    .map(entry => join('/proc', entry.name))
    .filter(path => path === '/proc/sys' || writable(path));
  return covers.flatMap(path => ['--ro-bind-try', path, path]);
}

let covers: string[] | undefined;

/** Writable by its owner only; world-writable files are safe for everybody to write. */
function writable(path: string): boolean {
  const stat = lstatSync(path, {throwIfNoEntry: false});
  if (!stat || stat.isSymbolicLink()) return false;
  if (!stat.isDirectory()) return (stat.mode & 0o222) !== 0 && (stat.mode & 0o002) === 0;
  try {
    return readdirSync(path).some(name => writable(join(path, name)));
  } catch {
    return true;
  }
}
