import {addressParts, type HostKind, parsePattern} from '../formats/address-pattern.ts';
import type {Policy, Verdict} from '../formats/rule.ts';
import {judgeTool} from './judge.ts';
import {type Factor, type Risk, summary} from './risk.ts';

export interface AddressJudgement {
  verdict: Verdict;
  reason: string;
  /** A pattern spells out this host, so it may be, or resolve to, a non-public address. */
  spelled?: true;
}

/** Descriptions of non-public hosts, to follow "it is". */
export const privateWords = {
  loopback: 'this machine itself',
  private: 'a private network',
  linkLocal: 'a link-local address, where clouds keep credentials',
  reserved: 'no address of the public internet',
  local: 'a name of the local network',
} as const satisfies Record<Exclude<HostKind, 'public'>, string>;

/**
 * Whether `fetch` may read this address without asking. Denied if the tool is; with `fetch: allow` every public address
 * is allowed, otherwise only addresses in `network.allow`. Neither wildcard hosts nor `fetch: allow` cover non-public
 * hosts: a pattern must spell out the host. Judges the URL as parsed. Callers must judge each redirect again and check
 * the addresses that a name resolves to. Must not throw.
 */
export function judgeAddress(url: string, policy: Policy, agent?: string): AddressJudgement {
  const tool = judgeTool('fetch', policy, {agent});
  if (tool.verdict === 'deny') return tool;
  const address = addressParts(url);
  if ('wrong' in address) return {verdict: 'ask', reason: address.wrong};
  const matching = policy.network.allow.filter(text => {
    const pattern = parsePattern(text);
    return !('wrong' in pattern) && pattern.matches(address);
  });
  const spelling = matching.find(text => !text.includes('://*.'));
  const by = spelling ?? matching[0];
  if (by !== undefined)
    return {verdict: 'allow', reason: `network.allow has \`${by}\``, ...(spelling && {spelled: true})};
  if (address.kind !== 'public') {
    return {verdict: 'ask', reason: `${address.host} is ${privateWords[address.kind]}, and no pattern spells it`};
  }
  if (tool.verdict === 'allow') return tool;
  return {verdict: 'ask', reason: `no pattern of network.allow matches, and ${tool.reason}`};
}

/** Lengths of parts chosen by an agent that can carry data out; ordinary addresses are shorter. */
const LONG_QUERY = 64;
const LONG_SEGMENT = 80;
const LONG_LABEL = 30;

/** Risk of fetching an address. `kind`: that of its host. */
export function riskOfAddress(url: URL, kind: HostKind): Risk {
  const {hostname, protocol, port} = url;
  const factors: Factor[] = [];
  if (kind === 'public')
    factors.push({level: 'MEDIUM', why: `${hostname} is another machine and will see this address`});
  else factors.push({level: kind === 'linkLocal' ? 'CRITICAL' : 'HIGH', why: `${hostname} is ${privateWords[kind]}`});
  if (protocol === 'http:')
    factors.push({level: 'MEDIUM', why: 'plain http: the network between can read and change the data'});
  if (port !== '') factors.push({level: 'MEDIUM', why: `port ${port} is not the usual one`});
  if (/(^|\.)xn--/.test(hostname))
    factors.push({level: 'MEDIUM', why: 'the host name has letters that may look like others'});
  const carriers = [
    url.search.length > LONG_QUERY && 'query',
    url.pathname.split('/').some(segment => segment.length > LONG_SEGMENT) && 'path',
    kind === 'public' && hostname.split('.').some(label => label.length > LONG_LABEL) && 'host',
  ].filter(part => part !== false);
  if (carriers.length > 0)
    factors.push({level: 'HIGH', why: `long enough to carry data out: its ${carriers.join(' and its ')}`});
  return summary(factors);
}
