/** An http or https address as parsed by the URL standard. */
export interface Address {
  scheme: string;
  /** Lower case, IDN in ASCII form, without trailing dot. IPv6 in brackets. */
  host: string;
  kind: HostKind;
  port: string;
  /** Decoded path segments. */
  path: readonly string[];
}

/** Network location of a host, judged by its spelling. */
export type HostKind = 'public' | 'loopback' | 'private' | 'linkLocal' | 'reserved' | 'local';

export interface AddressPattern {
  matches: (address: Address) => boolean;
}

export interface Wrong {
  wrong: string;
}

const ports: Readonly<Record<string, string>> = {http: '80', https: '443'};

/** Must not throw. Refuses anything that parsers interpret differently. */
export function addressParts(text: string): Address | Wrong {
  if (/[^\x21-\x7e]/.test(text)) return {wrong: 'the address has a space or a character outside printable ASCII'};
  if (text.includes('\\')) return {wrong: 'the address has a backslash'};
  if (!/^https?:\/\/[^/]/i.test(text)) return {wrong: 'only http:// and https:// addresses are read'};
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '') return {wrong: 'it is not an address'};
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)) {
    return {wrong: 'the address has a user name before its host'};
  }
  const scheme = url.protocol.slice(0, -1);
  const host = url.hostname.replace(/\.$/, '');
  if (host === '' || host.endsWith('.') || host.startsWith('.') || host.includes('..'))
    return {wrong: 'its host is not a name'};
  const path = segmentsOf(url.pathname);
  if (!path) return {wrong: 'its path has an encoded slash, dot segment or other trick'};
  return {scheme, host, kind: kindOfHost(host), port: url.port || (ports[scheme] ?? ''), path};
}

/** Decoded once; undefined where servers disagree about the meaning. */
function segmentsOf(pathname: string): string[] | undefined {
  const segments = pathname.slice(1).split('/');
  const decoded = segments.map(segment => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return undefined;
    }
  });
  // `a//b`: an empty segment before the end.
  if (decoded.slice(0, -1).includes('')) return undefined;
  const isSound = (segment: string | undefined): segment is string =>
    segment !== undefined && segment !== '.' && segment !== '..' && /^[^/\\%;\p{Cc}]*$/u.test(segment);
  return decoded.every(isSound) ? decoded : undefined;
}

/** Kind of a resolved address. Unparsable addresses count as reserved. */
export function kindOfNumber(address: string): HostKind {
  const url = `http://${address.includes(':') ? `[${address}]` : address}/`;
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return isNumber(host) ? kindOfHost(host) : 'reserved';
}

/** Whether a host, as normalised by the URL standard, is an IP address. */
export function isNumber(host: string): boolean {
  return host.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}

/** Expects the spelling of the URL standard, without trailing dot: `0x7f.1` and `2130706433` are 127.0.0.1 there. */
export function kindOfHost(host: string): HostKind {
  if (host.startsWith('[')) return kindOfV6(host.slice(1, -1));
  const v4 = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(host);
  if (v4) return kindOfV4(v4.slice(1).map(Number));
  if (/(^|\.)localhost$/.test(host)) return 'loopback';
  // A single label, or a suffix outside the public DNS.
  return !host.includes('.') ||
    /\.(local|internal|intranet|lan|home|corp|private|home\.arpa|test|invalid|onion)$/.test(host)
    ? 'local'
    : 'public';
}

/** Cloud metadata services besides 169.254: Azure, Alibaba; AWS, Google. */
const metadataV4: ReadonlySet<string> = new Set(['168.63.129.16', '100.100.100.200']);
const metadataV6: ReadonlySet<string> = new Set(['fd00:ec2:0:0:0:0:0:254', 'fd20:ce:0:0:0:0:0:254']);

function kindOfV4([a = 0, b = 0, c = 0, d = 0]: readonly number[]): HostKind {
  if (a === 127 || a === 0) return 'loopback';
  if (metadataV4.has([a, b, c, d].join('.'))) return 'linkLocal';
  if (a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168) || (a === 100 && b >= 64 && b < 128))
    return 'private';
  if (a === 169 && b === 254) return 'linkLocal';
  const special =
    (a === 192 && b === 0 && (c === 0 || c === 2)) || (a === 198 && (b === 18 || b === 19 || (b === 51 && c === 100)));
  return special || (a === 203 && b === 0 && c === 113) || a >= 224 ? 'reserved' : 'public';
}

/** Judges eight groups; addresses that embed an IPv4 address are judged by that. */
function kindOfV6(text: string): HostKind {
  const [left = '', right] = text.split('::');
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16));
  const [before, after] = [groups(left), groups(right ?? '')];
  const all = [...before, ...Array<number>(Math.max(0, 8 - before.length - after.length)).fill(0), ...after];
  const [first = 0, second = 0] = all;
  const v4 = (at: number): HostKind => {
    const [high = 0, low = 0] = all.slice(at, at + 2);
    return kindOfV4([high >> 8, high & 255, low >> 8, low & 255]);
  };
  if (all.slice(0, 7).every(group => group === 0) && (all[7] ?? 0) <= 1) return 'loopback';
  // IPv4-compatible and -mapped, NAT64, 6to4.
  const zeros = (from: number): boolean => all.slice(from, 5).every(group => group === 0);
  if (zeros(0) && (all[5] === 0 || all[5] === 0xffff)) return v4(6);
  if (first === 0x64 && second === 0xff9b) return zeros(2) && all[5] === 0 ? v4(6) : 'private';
  if (first === 0x2002) return v4(1);
  // Teredo and other tunnels; documentation.
  if (first === 0x2001 && (second < 0x200 || second === 0xdb8)) return 'reserved';
  if (first === 0x3fff && second < 0x1000) return 'reserved';
  if (metadataV6.has(all.map(group => group.toString(16)).join(':'))) return 'linkLocal';
  if ((first & 0xfe00) === 0xfc00) return 'private';
  if ((first & 0xffc0) === 0xfe80) return 'linkLocal';
  return (first & 0xe000) === 0x2000 ? 'public' : 'reserved';
}

/**
 * `https://docs.example.com/**`: scheme, host, port and path are matched separately. In the host only the whole first
 * label may be `*`, for one or more labels. In the path `*` matches within one segment, and a final `**` matches one or
 * more segments. Must not throw.
 */
export function parsePattern(text: string): AddressPattern | Wrong {
  const parts = /^(https?):\/\/([^/?#]*)(\/[^?#]*)?$/.exec(text);
  if (!parts) return {wrong: 'expected http:// or https://, a host and a path, without ? or #'};
  const [, scheme = '', authority = '', path = '/'] = parts;
  const wild = authority.startsWith('*.');
  const spelled = wild ? authority.slice(2) : authority;
  if (spelled.includes('*')) return {wrong: 'expected "*" in the host only as its whole first part, "*.example.com"'};
  const host = addressParts(`${scheme}://${spelled}/`);
  if ('wrong' in host) return host;
  const given = spelled.replace(/:\d*$/, '');
  if (given !== host.host) return {wrong: `expected the host as it is read, "${host.host}", got "${given}"`};
  if (wild && (host.kind !== 'public' || !host.host.includes('.') || /^[\d.]+$/.test(host.host))) {
    return {wrong: 'expected "*." before a public name of at least two parts'};
  }
  const segments = path.slice(1).split('/');
  if (segments.slice(0, -1).includes('**')) return {wrong: 'expected "**" only at the end of the path'};
  if (segments.some(segment => segment.includes('**') && segment !== '**'))
    return {wrong: 'expected "**" to stand alone between slashes'};
  if (path.includes('%')) return {wrong: 'expected a path without %'};
  if (segments.some(segment => segment === '.' || segment === '..'))
    return {wrong: 'expected a path without "." and ".."'};
  const sample = addressParts(`${scheme}://x.org/${segments.join('/').replaceAll('*', 'a')}`);
  if ('wrong' in sample) return {wrong: `expected a plain path: ${sample.wrong}`};
  const open = segments.at(-1) === '**';
  const tests = (open ? segments.slice(0, -1) : segments).map(matcher);
  return {
    matches: address => {
      if (address.scheme !== host.scheme || address.port !== host.port) return false;
      if (wild ? address.kind !== 'public' || !address.host.endsWith(`.${host.host}`) : address.host !== host.host)
        return false;
      if (open ? address.path.length <= tests.length : address.path.length !== tests.length) return false;
      return tests.every((test, i) => test(address.path[i] ?? ''));
    },
  };
}

function matcher(segment: string): (given: string) => boolean {
  const pieces = segment.split('*');
  const [first = '', ...rest] = pieces;
  if (rest.length === 0) return given => given === first;
  const last = rest.pop() ?? '';
  return given => {
    if (given.length < first.length + last.length || !given.startsWith(first) || !given.endsWith(last)) return false;
    let at = first.length;
    for (const piece of rest) {
      const found = given.indexOf(piece, at);
      if (found < 0 || found + piece.length > given.length - last.length) return false;
      at = found + piece.length;
    }
    return true;
  };
}
