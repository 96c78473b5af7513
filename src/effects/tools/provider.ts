import {nearest} from '../../formats/common/diagnostic.ts';
import type {Policy} from '../../formats/rule.ts';
import type {Settings} from '../../formats/settings.ts';
import type {ToolOffer} from '../model/answer.ts';
import {failure} from '../tool/failure.ts';
import type {Outside, ReadyCall, ToolContext, ToolResult} from '../tool/tool.ts';

/** Determines which tools an agent is offered. */
export interface AgentTools {
  /** As named in the template. */
  capabilities: readonly string[];
  /** Absolute path. */
  home: string;
  settings: Settings;
  env: Outside['env'];
}

/** A call as the model wrote it or a person edited it. */
export interface WantedCall {
  name: string;
  /** JSON, possibly invalid. */
  arguments: string;
  capabilities: readonly string[];
  policy: Policy;
}

export type PreparedCall = ReadyCall | {refused: ToolResult};

/**
 * A source of tools: this program, or a server. `prepare` decides whether a call may run, needs approval or is refused;
 * nothing runs before `execute`. Methods change nothing and never throw.
 */
export interface ToolProvider {
  /** Unique; for messages. */
  readonly name: string;
  /** Whether the provider owns a tool of this name, usable here or not. */
  has(tool: string): boolean;
  list(agent: AgentTools): readonly ToolOffer[] | Promise<readonly ToolOffer[]>;
  prepare(call: WantedCall, context: ToolContext): Promise<PreparedCall>;
}

/** Combines providers. If two own a tool of the same name, the first added wins. */
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
    const offered = await this.list({capabilities, home: context.home, settings, env});
    return {refused: noSuchTool(call.name, `there is no tool ${JSON.stringify(call.name.slice(0, 80))}`, offered)};
  }
}

/** `what`: why the call is refused. Tells the model which tools it has. */
export function noSuchTool(wanted: string, what: string, offered: readonly ToolOffer[]): ToolResult {
  const names = offered.map(({name}) => name);
  const near = nearest(wanted, names);
  const list = names.length > 0 ? `its tools are ${names.join(', ')}` : 'it has no tools';
  return failure('NOT_ALLOWED', `${what}${near ? ` (did you mean ${near}?)` : ''}; ${list}`);
}
