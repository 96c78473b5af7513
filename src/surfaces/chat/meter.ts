import {visibleLine} from '../../formats/common/visible.ts';
import {chooseModel} from '../../formats/model-choice.ts';
import {parseSettings} from '../../formats/settings.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {readHomeFile} from '../../home/read.ts';
import {cutToWidth} from '../terminal/table.ts';
import type {Conversation} from './conversation.ts';
import type {InstanceState} from './home-view.ts';

/** What the active session has used: model, tokens, cost, and how full its context is. */
export function meterLine(
  conversation: Conversation | undefined,
  contextTokens: number | undefined,
  width: number,
): string {
  if (!conversation?.header) return '';
  const {usage, model, file} = conversation;
  const tokens = usage ? usage.input_tokens + usage.output_tokens : 0;
  const cost = usage === null ? '' : usage.cost_usd === undefined ? 'cost unknown' : `$${usage.cost_usd.toFixed(4)}`;
  const full =
    contextTokens && conversation.contextTokens > 0
      ? `context ${Math.round((100 * conversation.contextTokens) / contextTokens)}%`
      : '';
  const parts = [
    model === undefined ? '' : visibleLine(model),
    tokens > 0 ? `${tokens.toLocaleString('en-US')} tokens` : '',
    cost,
    full,
  ];
  const facts = parts.filter(Boolean).join(' · ');
  const id = visibleLine(file.id);
  return facts === ''
    ? cutToWidth(id, width)
    : facts.length + 3 + id.length <= width
      ? `${id} · ${facts}`
      : cutToWidth(facts, width);
}

/** The workflow instance whose channel is on the screen. */
export function instanceMeter({instance, workflow, status, agents}: InstanceState, width: number): string {
  return cutToWidth(
    visibleLine(`${instance} · ${workflow} · ${status} · ${agents.map(name => `@${name}`).join(' ')}`),
    width,
  );
}

/** How many tokens each model takes, as agentdir.yaml and the built-in table say. */
export class ContextSizes {
  readonly #home: string;
  readonly #known = new Map<string, number | undefined>();

  constructor(home: string) {
    this.#home = home;
  }

  of(model: string | undefined): number | undefined {
    const name = model ?? 'default';
    if (!this.#known.has(name)) this.#known.set(name, this.#read(name));
    return this.#known.get(name);
  }

  #read(model: string): number | undefined {
    if (model === 'playbook') return undefined;
    const read = readHomeFile(nodeDisk(this.#home), 'agentdir.yaml');
    const settings = read && 'text' in read ? parseSettings(read.text).value : undefined;
    if (!settings) return undefined;
    const choice = chooseModel(model, settings, process.env);
    return 'kind' in choice && choice.kind === 'openai' ? choice.contextTokens : undefined;
  }
}
