import {lstatSync, readdirSync, readlinkSync, realpathSync, statSync} from 'node:fs';
import {join} from 'node:path';

/** Of /etc only these, all of them harmless: as root even /etc/shadow could be read otherwise. */
const settings = ['passwd', 'group', 'nsswitch.conf', 'hosts', 'ld.so.cache', 'alternatives'];
const networkSettings = [
  ...['resolv.conf', 'host.conf', 'gai.conf', 'services', 'protocols', 'mime.types', 'ssl/certs', 'ssl/openssl.cnf'],
  ...['ca-certificates', 'pki/tls/certs', 'pki/tls/cert.pem', 'pki/ca-trust/extracted', 'crypto-policies'],
];
/** Links into /usr on most machines: made again, which costs less than a mount. */
const linked = ['localtime', 'os-release'];

/** The read-only system that a confined program sees, as bubblewrap's arguments, and what of it is mounted. */
export interface SystemMounts {
  args: string[];
  /** Folders of this machine that are visible inside as they are. */
  roots: string[];
}

const known = new Map<boolean, SystemMounts>();

/** Looked up once: a system does not move its folders while the daemon runs. */
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

/** The file itself: resolv.conf is often a link into /run, which is not there inside. */
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
 * Parts of /proc that root may write even without capabilities, since it owns them: /proc/sys above all, by which
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

/** By its owner; what everybody may write is made for everybody. */
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
