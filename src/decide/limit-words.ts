import type {NewApprovalItem} from '../formats/approval/approval-item.ts';
import type {ReachedLimit} from './limits.ts';

/** The queue item of a request to raise a limit. */
export function budgetItem(reached: ReachedLimit, now: string): NewApprovalItem {
  const {id, what, limit, inTemplate, agent, session} = reached;
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
      limit: `${settingOf(reached)}: ${limit} in ${inTemplate ? `the template of ${agent}` : 'agentdir.yaml'}`,
      reached: `${who(reached)} ${used(reached)}`,
      grants: grants(reached),
      otherwise:
        'rejecting pauses the sessions that wait for this; they also go on by themselves when the limit is raised' +
        goesOnLater(reached),
    },
  };
}

/** `coder-1 used 3 turns for one piece of work (limits.max_turns)` */
export function reachedWords(reached: ReachedLimit): string {
  return `${who(reached)} ${used(reached)} (${settingOf(reached)})`;
}

/** The setting that raises the limit. */
function settingOf({scope, what}: Pick<ReachedLimit, 'scope' | 'what'>): string {
  if (what === 'requests') return 'limits.open_requests';
  if (scope === 'chain') return 'limits.agent_messages';
  if (scope === 'cause') return `limits.per_cause.${what}`;
  return scope === 'home' ? `limits.per_day.${what}` : `limits.max_${what}`;
}

function goesOnLater({scope, what, allowed}: ReachedLimit): string {
  if (what === 'requests') return `, and when at most ${Math.floor(allowed / 2)} requests are open`;
  return scope === 'agent' || scope === 'home' ? ', and on the next day (UTC)' : '';
}

/** The effect of an approval. */
function grants({limit, what, scope, day}: Pick<ReachedLimit, 'limit' | 'what' | 'scope' | 'day'>): string {
  const untils: Partial<Record<ReachedLimit['scope'], string>> = {
    work: 'for this piece of work',
    chain: 'for this exchange',
    cause: 'from this cause',
  };
  const until = untils[scope] ?? `on ${day}`;
  return limit === 0 ? `no limit of ${nouns[what]} ${until}` : `${amount(limit, what)} more ${until}`;
}

const nouns = {
  turns: 'turns',
  tokens: 'tokens',
  cost_usd: 'cost',
  hops: 'messages between agents',
  requests: 'open requests',
  turns_per_work: 'turns',
  sessions: 'sessions',
  tasks: 'tasks',
  messages: 'messages',
} as const;

function who({scope, agent, session, what, cause}: ReachedLimit): string {
  if (what === 'requests') return 'agents that want to ask you';
  const causeWords = `what began with ${cause}`;
  return {work: session, agent, home: 'all agents together', chain: session, cause: causeWords}[scope];
}

function used({what, used, allowed, scope, day}: ReachedLimit): string {
  const much = allowed === used ? amount(used, what) : `${number(used, what)} of ${amount(allowed, what)}`;
  if (what === 'requests') return `wait: ${much} need your decision first`;
  if (scope === 'cause') return `led to ${much} without a person in between`;
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
