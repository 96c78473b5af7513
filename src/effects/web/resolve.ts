import {lookup as systemLookup} from 'node:dns/promises';
import {isIPv6} from 'node:net';
import {kindOfNumber} from '../../formats/address-pattern.ts';
import {privateWords} from '../../policy/address.ts';
import {failure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';
import type {WebAddress} from './web-address.ts';

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Resolve a name to all its addresses. Throws system errors. */
export type Lookup = (host: string) => Promise<readonly ResolvedAddress[]>;

export const lookup: Lookup = host => systemLookup(host, {all: true});

/**
 * Resolve the only addresses to connect to, each of them checked. If one is not public, none is used, unless the policy
 * `spelled` this host or a person approved it. A name never leads to link-local addresses, where clouds keep
 * credentials. Throws system errors.
 */
export async function resolve(
  {host, number}: WebAddress,
  spelled: boolean,
  look: Lookup,
): Promise<readonly ResolvedAddress[] | ToolFailure> {
  const all = number ? [{address: host, family: isIPv6(host) ? 6 : 4}] : await look(host);
  for (const {address} of all) {
    const kind = kindOfNumber(address);
    if (kind === 'public' || (spelled && (number || kind === 'loopback' || kind === 'private'))) continue;
    const what = number ? address : `${host} leads to ${address}, which`;
    const remedy =
      !number && (kind === 'linkLocal' || kind === 'reserved')
        ? 'no name may lead there'
        : `only a pattern under network: allow: that spells ${host} allows that`;
    return failure('DENIED', `${what} is ${privateWords[kind]}; ${remedy}`);
  }
  return all;
}
