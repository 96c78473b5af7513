import {describe, expect, it} from 'vitest';
import {wakeOnTimer, wakeSessions} from '../../src/agents/sessions/wake.ts';
import {Approvals} from '../../src/agents/state/approvals.ts';
import {Causes} from '../../src/agents/state/causes.ts';
import type {With} from '../../src/agents/state/parts.ts';
import {Spend} from '../../src/agents/state/spend.ts';
import {Waits} from '../../src/agents/state/waits.ts';
import type {Facts} from '../../src/check/facts.ts';
import {HomeIndex} from '../../src/check/home-index.ts';
import {factsOf} from '../../src/check/read-facts.ts';
import {NOTHING_SPENT} from '../../src/formats/session/spent.ts';
import {systemClock} from '../../src/home/disk/clock.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {setFacts} from '../../src/loop/accept-version.ts';
import type {StartedCalls} from '../../src/loop/started-calls.ts';

function clocked(time: string) {
  const clock = {time, dues: 0, days: 0};
  const spend = new Spend({
    causes: new Causes(),
    onDue: () => clock.dues++,
    onNewDay: () => clock.days++,
    clock: {...systemClock, now: () => Date.parse(clock.time)},
  });
  return {clock, spend};
}
const usage = {input_tokens: 10, output_tokens: 1, cost_usd: 0.1};

describe('what was used today', () => {
  it('is counted by template and over all, and begins anew with each day', () => {
    const {clock, spend} = clocked('2026-11-16T23:59:59.999Z');
    spend.add('a', usage, clock.time);
    spend.add('a@pr-1', usage, clock.time);
    spend.add('b', undefined, clock.time);
    expect(spend.spentBy('a')).toEqual({
      turns: 2,
      input_tokens: 20,
      output_tokens: 2,
      cost_usd: 0.2,
      unpriced_tokens: 0,
    });
    expect(spend.all).toEqual({turns: 3, input_tokens: 20, output_tokens: 2, cost_usd: 0.2, unpriced_tokens: 0});
    clock.time = '2026-11-17T00:00:00.000Z';
    // An answer of a moment ago is yesterday's.
    spend.add('a', usage, '2026-11-16T23:59:59.999Z');
    expect(spend.value()).toBeUndefined();
    expect(spend.spentBy('a')).toEqual(NOTHING_SPENT);
    expect(spend.all).toEqual(NOTHING_SPENT);
    expect(clock.days).toBe(1);
    spend.add('a', usage, clock.time);
    expect(spend.value()).toEqual({day: '2026-11-17', agents: {a: {turns: 1, ...usage, unpriced_tokens: 0}}});
    spend.close();
  });

  it('is at the start, figure by figure, the larger of what was written and what sessions say', () => {
    const {spend} = clocked('2026-11-16T10:00:00.000Z');
    const day = '2026-11-16';
    const sessions = [
      {agent: 'a', spent: {day, turns: 2, input_tokens: 5, output_tokens: 5, cost_usd: 0.5, unpriced_tokens: 0}},
      {agent: 'a', spent: {day, turns: 1, input_tokens: 5, output_tokens: 5, cost_usd: 0.5, unpriced_tokens: 0}},
      {
        agent: 'a',
        spent: {day: '2026-11-15', turns: 9, input_tokens: 9, output_tokens: 9, cost_usd: 9, unpriced_tokens: 0},
      },
      {agent: 'b'},
      {agent: 'toString', spent: {day, turns: 1, input_tokens: 0, output_tokens: 0, cost_usd: 0, unpriced_tokens: 0}},
    ];
    spend.load(
      {day, agents: {a: {turns: 1, input_tokens: 100, output_tokens: 0, cost_usd: 0.1, unpriced_tokens: 0}}},
      sessions,
    );
    expect(spend.spentBy('a')).toEqual({
      turns: 3,
      input_tokens: 100,
      output_tokens: 10,
      cost_usd: 1,
      unpriced_tokens: 0,
    });
    expect(spend.all.turns).toBe(4);
    spend.load(
      {day: '2026-11-15', agents: {a: {turns: 7, input_tokens: 7, output_tokens: 7, cost_usd: 7, unpriced_tokens: 0}}},
      sessions,
    );
    expect(spend.spentBy('a').turns).toBe(3);
    spend.load(undefined, []);
    expect(spend.value()).toBeUndefined();
  });

  it('is written when asked to, if there is anything to write', () => {
    const {clock, spend} = clocked('2026-11-16T10:00:00.000Z');
    spend.due();
    expect(clock.dues).toBe(0);
    spend.add('a', usage, clock.time);
    expect(clock.dues).toBe(0);
    spend.due();
    expect(clock.dues).toBe(1);
  });
});

describe('sessions that wait', () => {
  const time = '2026-11-16T10:00:00.000Z';
  const session = (approval: string) =>
    `agent_id: a\nstatus: waiting\nwaiting_for: ${approval}\nmessages:\n  - role: user\n    timestamp: '${time}'\n    content: x\n`;
  const queue = (...items: [id: string, box: string][]) =>
    items.map(([id, box]) => `- [${box}] "More"\n  id: ${id}\n  approval_type: budget\n`).join('');
  const QUEUE = 'tasks/approvals.task.md';

  /** The parts of a daemon that decide who is looked at; all but the queue are the real ones. */
  function daemon() {
    const looked = new Set<string>();
    const clock = {time};
    const waits = new Waits();
    const index = new HomeIndex();
    const parts = {
      files: {
        home: '/nowhere',
        disk: nodeDisk('/nowhere'),
        index,
        known: new Map(),
        looks: {lookAgain: new Set<string>()},
        kinds: {followers: [waits]},
        phase: {unsaved: false, loading: false},
        queue: {add: (path: string) => looked.add(path)},
      },
      approvals: new Approvals(systemClock, waits, {} as StartedCalls),
      spend: new Spend({
        causes: new Causes(),
        onDue: () => looked.add('spend'),
        onNewDay: () => waits.allChanged(),
        clock: {...systemClock, now: () => Date.parse(clock.time)},
      }),
      reports: {troubles: {set: () => {}}},
    } as unknown as With<'files' | 'approvals' | 'spend' | 'reports'>;
    const put = (path: string, text: string | undefined) => {
      const facts: Facts | undefined = text === undefined ? undefined : factsOf(path, text);
      setFacts(parts.files, path, facts);
      index.settle();
    };
    const woken = () => {
      looked.clear();
      wakeSessions(parts);
      return [...looked].sort();
    };
    return {parts, clock, looked, put, woken};
  }
  const template = (limits: string) =>
    `id: a\ntype: t\nsystem_prompt: x\ncapabilities: [read_file]\nlimits: ${limits}\n`;

  it('are looked at when their own request is decided, the limit raised or the day over, and not before', () => {
    const {parts, clock, looked, put, woken} = daemon();
    const id = 'budget-a-2026-11-16-tokens-1';
    put('templates/a.agent.yaml', template('{max_tokens: 10}'));
    parts.spend.add('a', usage, time);
    put('sessions/s1.session.yaml', session(id));
    put('sessions/s2.session.yaml', session(id));
    expect(woken()).toEqual(['spend', QUEUE]);
    put(QUEUE, queue([id, '_']));
    expect(woken()).toEqual([]);
    put('sessions/s3.session.yaml', session(id));
    expect(woken()).toEqual([]);
    put('templates/a.agent.yaml', template('{max_tokens: 11}'));
    expect(woken()).toEqual([QUEUE]);
    put('templates/a.agent.yaml', template('{max_tokens: 12}'));
    const all = ['sessions/s1.session.yaml', 'sessions/s2.session.yaml', 'sessions/s3.session.yaml', QUEUE];
    expect(woken()).toEqual(all);
    put('templates/a.agent.yaml', template('{max_tokens: 10}'));
    expect(woken()).toEqual([QUEUE]);
    put(QUEUE, queue([id, 'x']));
    expect(woken()).toEqual(all.slice(0, 3));
    put(QUEUE, queue([id, '_']));
    expect(woken()).toEqual([]);
    clock.time = '2026-11-17T00:00:00.000Z';
    looked.clear();
    wakeOnTimer(parts);
    expect([...looked].sort()).toEqual(all);
    parts.spend.close();
  });

  it('keep waiting while their file or template has errors; a request is let go with the last that waits', () => {
    const {parts, put, woken} = daemon();
    const id = 'budget-a-2026-11-16-tokens-1';
    put('templates/a.agent.yaml', template('{max_tokens: 10}'));
    parts.spend.add('a', usage, time);
    put('sessions/s1.session.yaml', session(id));
    put(QUEUE, queue([id, '_']));
    woken();
    put('sessions/s1.session.yaml', 'agent_id: [\n');
    put('templates/a.agent.yaml', 'id: [\n');
    expect(woken()).toEqual([]);
    put('sessions/s1.session.yaml', undefined);
    expect(woken()).toEqual([QUEUE]);
    parts.spend.close();
  });
});
