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

/** All addresses of a name. Throws what the system says. */
export type Lookup = (host: string) => Promise<readonly ResolvedAddress[]>;

export const lookup: Lookup = host => systemLookup(host, {all: true});

/**
 * The addresses to connect to, and to no others: each was looked at. If one of them is not public, none is used, unless
 * the very host was `spelled` by the policy or approved as what it is. What a name leads to was spelled by nobody, so it
 * never leads to where clouds keep credentials. Throws what the system says.
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
