import {fitting} from './cut.ts';
import type {Tool} from './tool.ts';

const MOST = 200;
const LONGEST_DESCRIPTION = 300;

export const listAgents: Tool<'list_agents'> = {
  execute: (_, {agents, redact}) => {
    const all = agents();
    const lines = all.slice(0, MOST).map(({id, type, description}) => ({
      id,
      ...(type !== undefined && {type}),
      ...(description !== undefined && {description: shorten(redact.text(description))}),
    }));
    const fit = fitting(lines, MOST);
    return {success: true, agents: fit, ...(all.length > fit.length && {left_out: all.length - fit.length})};
  },
};

function shorten(text: string): string {
  return text.length > LONGEST_DESCRIPTION ? `${text.slice(0, LONGEST_DESCRIPTION).trimEnd()}…` : text;
}
