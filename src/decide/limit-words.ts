import type {NewApprovalItem} from '../formats/approval/approval-item.ts';
import type {ReachedLimit} from './limits.ts';

/** The queue item of a request to raise a limit. */
export function budgetItem(reached: ReachedLimit, now: string): NewApprovalItem {
  const {id, scope, what, limit, agent, session} = reached;
  const key = {home: `per_day.${what}`, chain: 'limits.agent_messages', work: `max_${what}`, agent: `max_${what}`}[
    scope
  ];
  return {
    id,
    title: `Approve more ${nouns[what]}: ${who(reached)} ${used(reached)}`,
    type: 'budget',
    agent,
    created: now,
    risk: 'LOW',
    factors: [],
    fields: {
      session,
      limit: `${key}: ${limit} in ${scope === 'home' || scope === 'chain' ? 'agentdir.yaml' : `the template of ${agent}`}`,
      reached: used(reached),
      grants: grants(reached),
      otherwise:
        'rejecting pauses the sessions that wait for this; they also go on by themselves when the limit is raised' +
        (scope === 'work' || scope === 'chain' ? '' : ', and on the next day (UTC)'),
    },
  };
}

/** The effect of an approval. */
function grants({limit, what, scope, day}: Pick<ReachedLimit, 'limit' | 'what' | 'scope' | 'day'>): string {
  const until = {work: 'for this piece of work', chain: 'for this exchange'}[scope as string] ?? `on ${day}`;
  return limit === 0 ? `no limit of ${nouns[what]} ${until}` : `${amount(limit, what)} more ${until}`;
}

const nouns = {turns: 'turns', tokens: 'tokens', cost_usd: 'cost', hops: 'messages between agents'} as const;

function who({scope, agent, session}: ReachedLimit): string {
  return {work: session, agent, home: 'all agents together', chain: session}[scope];
}

function used({what, used, allowed, scope, day}: ReachedLimit): string {
  const much = allowed === used ? amount(used, what) : `${number(used, what)} of ${amount(allowed, what)}`;
  if (scope === 'chain') return `comes after ${much} without a person in between`;
  return `used ${much} ${scope === 'work' ? 'for one piece of work' : `on ${day}`}`;
}

function amount(value: number, what: ReachedLimit['what']): string {
  if (what === 'cost_usd') return number(value, what);
  if (what === 'hops') return `${number(value, what)} ${value === 1 ? 'message between agents' : nouns.hops}`;
  return `${number(value, what)} ${value === 1 ? nouns[what].slice(0, -1) : nouns[what]}`;
}

function number(value: number, what: ReachedLimit['what']): string {
  if (what !== 'cost_usd') return value.toLocaleString('en-US');
  return `$${value.toLocaleString('en-US', {minimumFractionDigits: 2, maximumFractionDigits: 4})}`;
}
