import {nearest} from '../../formats/common/diagnostic.ts';
import type {Policy} from '../../formats/rule.ts';
import type {Settings} from '../../formats/settings.ts';
import type {ToolOffer} from '../model/answer.ts';
import {failure} from '../tool/failure.ts';
import type {Outside, ReadyCall, ToolContext, ToolResult} from '../tool/tool.ts';

/** What decides which tools an agent is offered. */
export interface AgentTools {
  /** As its template names them. */
  capabilities: readonly string[];
  settings: Settings;
  env: Outside['env'];
}

/** A call as the model wrote it, or as a person changed it, and what decides whether it may run. */
export interface WantedCall {
  name: string;
  /** JSON, or what the model took for it. */
  arguments: string;
  capabilities: readonly string[];
  policy: Policy;
}

/** What runs a call, or the result that refuses it. */
export type PreparedCall = ReadyCall | {refused: ToolResult};

/**
 * A source of tools: those of this program, or those of a server. `prepare` decides whether a call may run, must be asked about or is
 * refused; nothing runs before `execute` of what it returns. Neither method changes anything, and neither throws.
 */
export interface ToolProvider {
  /** For messages; no two providers have the same. */
  readonly name: string;
  /** Whether a tool of this name is one of its own, be it usable here or not. */
  has(tool: string): boolean;
  /** The tools that the agent can use now, each once. */
  list(agent: AgentTools): readonly ToolOffer[] | Promise<readonly ToolOffer[]>;
  prepare(call: WantedCall, context: ToolContext): Promise<PreparedCall>;
}

/** All providers, as one. Of two that have a tool of the same name, the one added first is asked. */
export class Tools implements ToolProvider {
  readonly name = 'all';
  readonly #providers: ToolProvider[] = [];

  constructor(providers: readonly ToolProvider[] = []) {
    this.#providers.push(...providers);
  }

  add(provider: ToolProvider): void {
    this.#providers.push(provider);
  }

  has(tool: string): boolean {
    return this.#providers.some(provider => provider.has(tool));
  }

  async list(agent: AgentTools): Promise<readonly ToolOffer[]> {
    const [first, ...others] = await Promise.all(this.#providers.map(provider => provider.list(agent)));
    if (others.length === 0) return first ?? [];
    const offers = new Map<string, ToolOffer>();
    for (const offer of [first ?? [], ...others].flat()) if (!offers.has(offer.name)) offers.set(offer.name, offer);
    return [...offers.values()];
  }

  async prepare(call: WantedCall, context: ToolContext): Promise<PreparedCall> {
    const provider = this.#providers.find(each => each.has(call.name));
    if (provider) return provider.prepare(call, context);
    const {capabilities} = call;
    const {settings, env} = context.outside;
    const offered = await this.list({capabilities, settings, env});
    return {refused: noSuchTool(call.name, `there is no tool ${JSON.stringify(call.name.slice(0, 80))}`, offered)};
  }
}

/** `what`: why the call is refused. The model is shown which tools it has. */
export function noSuchTool(wanted: string, what: string, offered: readonly ToolOffer[]): ToolResult {
  const names = offered.map(({name}) => name);
  const near = nearest(wanted, names);
  const list = names.length > 0 ? `its tools are ${names.join(', ')}` : 'it has no tools';
  return failure('NOT_ALLOWED', `${what}${near ? ` (did you mean ${near}?)` : ''}; ${list}`);
}
