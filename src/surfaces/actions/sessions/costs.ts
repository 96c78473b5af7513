import {kindOf} from '../../../formats/common/key.ts';
import {parseSession} from '../../../formats/session/session.ts';
import {addSpent, dayOf, NOTHING_SPENT, oneTurn, type Spent, type Usage} from '../../../formats/session/spent.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';

export const costGroups = ['agent', 'model', 'day'] as const;
export type CostGroup = (typeof costGroups)[number];

/** Usage of one agent, model or day. */
export interface CostRow extends Spent {
  name: string;
}

export interface Costs {
  rows: CostRow[];
  total: Spent;
  /** Session files with errors, whose usage is not counted. */
  unread: string[];
}

/** Sums up the usage in all sessions, archived ones and older segments included. A copied message of a fork counts once, in its original. */
export function costsOf(home: string, by: CostGroup): Costs {
  const rows = new Map<string, Spent>();
  const unread: string[] = [];
  let total: Spent = NOTHING_SPENT;
  const add = (name: string, usage: Usage) => {
    const turn = oneTurn(usage);
    rows.set(name, addSpent(rows.get(name) ?? NOTHING_SPENT, turn));
    total = addSpent(total, turn);
  };
  for (const path of listFolder(nodeDisk(home), 'sessions').sort()) {
    if (kindOf(path) !== 'session') continue;
    const read = readHomeFile(nodeDisk(home), path);
    const session = read && 'text' in read ? parseSession(read.text) : undefined;
    if (!session?.header) {
      if (read) unread.push(path);
      continue;
    }
    const {header, messages} = session;
    const since = header.forked_from === undefined ? '' : (header.created ?? '');
    const nameOf = (model: string | undefined, time: string) =>
      by === 'agent' ? header.agent_id : by === 'model' ? (model ?? 'unknown') : dayOf(time);
    for (const {role, usage, model, timestamp = ''} of messages)
      if (role === 'assistant' && usage !== undefined && timestamp >= since) add(nameOf(model, timestamp), usage);
    // No message has the usage of requests for checkpoints.
    for (const {usage, model, created = ''} of header.context?.versions ?? [])
      if (usage !== undefined) add(nameOf(model, created), usage);
  }
  const named = [...rows].map(([name, spent]) => ({name, ...spent}));
  const order = (a: CostRow, b: CostRow) =>
    by === 'day' ? (a.name < b.name ? -1 : 1) : b.cost_usd - a.cost_usd || tokensOf(b) - tokensOf(a);
  return {rows: named.sort(order), total, unread};
}

function tokensOf({input_tokens, output_tokens}: Spent): number {
  return input_tokens + output_tokens;
}
