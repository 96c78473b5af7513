import type {Tool} from '../tool/tool.ts';
import {fittingLines, MAX_TEXT} from './cut.ts';

const MAX_AGENTS = 200;
const MOST_IDS = 2_000;
const LONGEST_DESCRIPTION = 300;

export const listAgentsTool: Tool<'list_agents'> = {
  execute: async (_, {agents, redact}) => {
    const all = await agents();
    const lines = all.slice(0, MAX_AGENTS).map(({id, type, description}) => ({
      id,
      ...(type !== undefined && {type}),
      ...(description !== undefined && {description: shorten(redact.text(description))}),
    }));
    const ids = all.map(({id}) => id);
    const forIds = Math.min(JSON.stringify(ids).length, MAX_TEXT / 2);
    const fit = fittingLines(lines, MAX_AGENTS, MAX_TEXT - forIds);
    // List at least the ids of the others: an agent can send messages to them.
    const others = fittingLines(ids.slice(fit.length), MOST_IDS, forIds);
    const left = all.length - fit.length - others.length;
    return {success: true, agents: fit, ...(others.length > 0 && {others}), ...(left > 0 && {left_out: left})};
  },
};

function shorten(text: string): string {
  return text.length > LONGEST_DESCRIPTION ? `${text.slice(0, LONGEST_DESCRIPTION).trimEnd()}…` : text;
}
