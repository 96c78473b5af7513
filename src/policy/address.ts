import {addressParts, type HostKind, parsePattern} from '../formats/address-pattern.ts';
import type {Policy, Verdict} from '../formats/rule.ts';
import {judgeTool} from './judge.ts';

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
export function judgeAddress(url: string, policy: Policy): AddressJudgement {
  const tool = judgeTool('fetch', policy);
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
