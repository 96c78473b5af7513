import type {HostKind} from '../formats/address-pattern.ts';
import {privateWords} from './address.ts';
import {type Factor, type Risk, summary} from './risk.ts';

/** Lengths of parts chosen by an agent that can carry data out; ordinary addresses are shorter. */
const LONG_QUERY = 64;
const LONG_SEGMENT = 80;
const LONG_LABEL = 30;

/** Risk of fetching an address. `kind`: that of its host. */
export function riskOfAddress(url: URL, kind: HostKind): Risk {
  const {hostname, protocol, port} = url;
  const factors: Factor[] = [];
  if (kind === 'public')
    factors.push({level: 'MEDIUM', why: `${hostname} is another machine, and is told this address`});
  else factors.push({level: kind === 'linkLocal' ? 'CRITICAL' : 'HIGH', why: `${hostname} is ${privateWords[kind]}`});
  if (protocol === 'http:')
    factors.push({level: 'MEDIUM', why: 'plain http: who is on the way can read and change what is sent'});
  if (port !== '') factors.push({level: 'MEDIUM', why: `port ${port} is not the usual one`});
  if (/(^|\.)xn--/.test(hostname))
    factors.push({level: 'MEDIUM', why: 'the name of the host has letters that may look like others'});
  const carriers = [
    url.search.length > LONG_QUERY && 'query',
    url.pathname.split('/').some(segment => segment.length > LONG_SEGMENT) && 'path',
    kind === 'public' && hostname.split('.').some(label => label.length > LONG_LABEL) && 'host',
  ].filter(part => part !== false);
  if (carriers.length > 0)
    factors.push({level: 'HIGH', why: `long enough to carry data out: its ${carriers.join(' and its ')}`});
  return summary(factors);
}
