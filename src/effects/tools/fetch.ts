import {domainToUnicode} from 'node:url';
import {addressParts, parsePattern} from '../../formats/address-pattern.ts';
import type {Policy} from '../../formats/rule.ts';
import {judgeAddress, riskOfAddress} from '../../policy/address.ts';
import {failure, isFailure, stoppedFailure} from '../tool/failure.ts';
import {pace} from '../tool/pace.ts';
import type {
  Arguments,
  Ask,
  AskPart,
  JudgingTool,
  ToolAsk,
  ToolContext,
  ToolFailure,
  ToolResult,
} from '../tool/tool.ts';
import {lookup} from '../web/resolve.ts';
import {readAddress, type WebAddress} from '../web/web-address.ts';
import {CommandOutput} from './command-output.ts';
import {MAX_TEXT} from './cut.ts';

/** Limits, and the sources of DNS names and certificates. */
const defaults = {
  lookup,
  firstByteMs: 20_000,
  totalMs: 60_000,
  mostBytes: 5 * 1024 * 1024,
  ca: undefined as string | undefined,
};

const PIECE = 64 * 1024;

export type FetchWorld = typeof defaults;

export const fetchTool = makeFetch();

/** Tests pass their own world. */
export function makeFetch(changes: Partial<FetchWorld> = {}): JudgingTool<'fetch'> {
  const world = {...defaults, ...changes};
  return {
    prepare: async (args, policy, context) => ({
      ...judgeAddress(args.url, policy, context.agent),
      execute: approved => execute(args, policy, approved, context, world),
      ask: () => ask(args),
    }),
  };
}

async function execute(
  {url}: Arguments<'fetch'>,
  policy: Policy,
  approved: boolean,
  context: ToolContext,
  world: FetchWorld,
): Promise<ToolResult> {
  const address = readAddress(url);
  if (isFailure(address)) return address;
  const limit = AbortSignal.timeout(world.totalMs);
  const signal = AbortSignal.any([context.signal, limit]);
  // Loaded here, so that homes that never fetch do not load them.
  const [{followRedirects}, {readPage}] = await Promise.all([import('../web/follow.ts'), import('../web/page.ts')]);
  try {
    const arrived = await followRedirects({address, policy, agent: context.agent, approved}, world, signal);
    if (isFailure(arrived)) return arrived;
    const page = await readPage(arrived, world.mostBytes, signal);
    if (isFailure(page)) return {...page, untrusted: true};
    const {text, file} = await fitPage(page.content, context);
    return {...page.head, content: text, ...(file && {content_file: file}), untrusted: true};
  } catch (error) {
    if (context.signal.aborted) return stoppedFailure(context);
    if (limit.aborted) return failure('TIMEOUT', `it was not there after ${world.totalMs / 1000} s`);
    throw error;
  }
}

/** Cut the page to what fits the result. A longer one is saved whole, in `file`. Yields to other work meanwhile. */
async function fitPage(content: string, context: ToolContext): Promise<{text: string; file?: string}> {
  const output = new CommandOutput(context, 'page', {untrusted: true, most: MAX_TEXT});
  const bytes = Buffer.from(content);
  const rest = pace(context.signal);
  for (let at = 0; at < bytes.length; at += PIECE) {
    output.add(bytes.subarray(at, at + PIECE));
    await rest();
  }
  return output.end();
}

function ask({url: given, reason}: Arguments<'fetch'>): ToolAsk | ToolFailure {
  const address = readAddress(given);
  if (isFailure(address)) return address;
  const {url, host, kind} = address;
  const readable = domainToUnicode(host);
  const parts: AskPart[] = [{label: 'Address', text: given}];
  if (url.href !== given) parts.push({label: 'Read as', text: url.href});
  if (readable !== '' && readable !== host) parts.push({label: 'Host', text: `${host} (${readable})`});
  return {
    type: 'network',
    title: `fetch: ${url.href}`,
    risk: riskOfAddress(url, kind),
    ...(reason !== undefined && {reason}),
    parts,
    edits: {argument: 'url', label: 'Address'},
    basis: {},
    always: alwaysOf(address),
  };
}

/** A rule for exactly this address. */
function alwaysOf({url}: WebAddress): Ask['always'] {
  if (url.search !== '') return {none: 'patterns do not name queries: one for this address would allow any query'};
  const text = url.href;
  const [address, pattern] = [addressParts(text), parsePattern(text)];
  const exact = !text.includes('*') && !('wrong' in address) && !('wrong' in pattern) && pattern.matches(address);
  return exact ? {rules: [{address: text}]} : {none: 'no pattern names just this address'};
}
