import {type HostKind, isNumber, kindOfHost} from '../../formats/address-pattern.ts';
import {failure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';

/** An address to fetch, as parsed by the URL standard. */
export interface WebAddress {
  /** Without the fragment, which is not sent. */
  url: URL;
  /** Without brackets and trailing dot. */
  host: string;
  /** Whether the host is an IP address. */
  number: boolean;
  /** Judged by the spelling of the host only. */
  kind: HostKind;
}

const MAX_ADDRESS = 8192;

/** Ports that browsers refuse, because other protocols might accept an HTTP request as their own. */
const otherPorts: ReadonlySet<string> = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 ' +
    '135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 ' +
    '1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
);

/** Parse an address that can be shown and fetched. Does not check the policy. Must not throw. */
export function readAddress(text: string): WebAddress | ToolFailure {
  const wrong = (why: string): ToolFailure => failure('INVALID_ARGUMENTS', why);
  if (text.length > MAX_ADDRESS) return wrong(`the address is longer than ${MAX_ADDRESS} characters`);
  if (/[\s\\\p{Cc}\p{Cf}\p{Cs}]/u.test(text))
    return wrong('the address has a space, a backslash or a hidden character; write it as %20 and the like');
  if (!/^https?:\/\/[^/]/i.test(text)) return wrong('only http:// and https:// addresses are read');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const host = url?.hostname.replace(/\.$/, '');
  if (!url || !host || host.startsWith('.') || host.endsWith('.') || host.includes('..'))
    return wrong('it is not an address');
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text))
    return wrong('the address has a user name or password before its host: nothing is sent that would log in anywhere');
  if (otherPorts.has(url.port))
    return failure('DENIED', `port ${url.port} is not for the web, and is never connected to`);
  url.hash = '';
  return {url, host: host.replace(/^\[|\]$/g, ''), number: isNumber(host), kind: kindOfHost(host)};
}

/** Whether a redirect stays on the same host and port, or goes from http to https on the default ports. */
export function sameServer(from: WebAddress, to: WebAddress): boolean {
  if (from.host !== to.host) return false;
  if (from.url.protocol === to.url.protocol) return from.url.port === to.url.port;
  return from.url.protocol === 'http:' && from.url.port === '' && to.url.port === '';
}
