import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {afterWait} from '../../src/decide/after-wait.ts';
import {endWait, waitForMore} from '../../src/decide/budget.ts';
import {budgetItem} from '../../src/decide/limit-words.ts';
import {allReachedLimits, firstReachedLimit, type LimitInput, type ReachedLimit} from '../../src/decide/limits.ts';
import {completeQueue} from '../../src/decide/queue.ts';
import {newApprovalItem, readApprovalItems} from '../../src/formats/approval/approval-item.ts';
import {type ApprovalState, approvalState} from '../../src/formats/approval/approval-state.ts';
import {isId} from '../../src/formats/common/values.ts';
import {type Caused, NOTHING_CAUSED} from '../../src/formats/session/causes.ts';
import {parseSession, sessionText} from '../../src/formats/session/session.ts';
import {NOTHING_SPENT, type SpendLimits, type Spent} from '../../src/formats/session/spent.ts';
import {fieldOf} from '../../src/formats/task/task.ts';
import {addTask, setBox} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';

const now = '2026-11-16T10:00:00.000Z';
const day = '2026-11-16';

function input(over: Partial<LimitInput> = {}, decided: Record<string, ApprovalState> = {}): LimitInput {
  return {
    session: 's1',
    agent: 'a',
    day,
    work: {since: now, turns: 0},
    own: undefined,
    home: undefined,
    spent: {agent: NOTHING_SPENT, all: NOTHING_SPENT},
    caused: () => NOTHING_CAUSED,
    stateOf: id => decided[id],
    ...over,
  };
}
const spent = (over: Partial<Spent>): Spent => ({...NOTHING_SPENT, ...over});

describe('a limit', () => {
  it('is reached when all of it is used, and not before', () => {
    const turns = (n: number) => firstReachedLimit(input({own: {turns: 3}, work: {since: now, turns: n}}));
    expect(turns(2)).toBeUndefined();
    expect(turns(3)).toMatchObject({id: 'budget-s1-20261116T100000000Z-turns-1', scope: 'work', limit: 3, used: 3});
    const tokens = (n: number) =>
      firstReachedLimit(
        input({own: {tokens: 100}, spent: {agent: spent({input_tokens: n, output_tokens: 1}), all: NOTHING_SPENT}}),
      );
    expect(tokens(98)).toBeUndefined();
    expect(tokens(99)).toMatchObject({id: 'budget-a-2026-11-16-tokens-1', scope: 'agent', used: 100});
    const cost = (n: number) =>
      firstReachedLimit(input({home: {cost_usd: 0.5}, spent: {agent: NOTHING_SPENT, all: spent({cost_usd: n})}}));
    expect(cost(0.49)).toBeUndefined();
    expect(cost(0.5)).toMatchObject({id: 'budget-2026-11-16-cost_usd-1', scope: 'home'});
    expect(firstReachedLimit(input({own: {}, home: {}, work: {since: now, turns: 99}}))).toBeUndefined();
  });

  it('of the settings is for all agents together, of a template for its own', () => {
    const both = {
      agent: spent({input_tokens: 10, cost_usd: 1, turns: 10}),
      all: spent({input_tokens: 20, cost_usd: 2, turns: 20}),
    };
    const limits: SpendLimits = {turns: 15, tokens: 15, cost_usd: 1.5};
    expect([...allReachedLimits(input({own: limits, home: limits, spent: both}))].map(({id}) => id)).toEqual([
      'budget-2026-11-16-turns-1',
      'budget-2026-11-16-tokens-1',
      'budget-2026-11-16-cost_usd-1',
    ]);
  });

  it('is there once more with each approval; what was rejected or withdrawn only counts on', () => {
    const at = (turns: number, decided: Record<string, ApprovalState>) =>
      firstReachedLimit(input({own: {turns: 10}, work: {since: 'x', turns}}, decided));
    const decided = (...states: ApprovalState[]) =>
      Object.fromEntries(states.map((state, i) => [`budget-s1-x-turns-${i + 1}`, state]));
    expect(at(10, decided('pending'))).toMatchObject({id: 'budget-s1-x-turns-1', allowed: 10});
    expect(at(10, decided('approved'))).toBeUndefined();
    expect(at(20, decided('approved'))).toMatchObject({id: 'budget-s1-x-turns-2', allowed: 20});
    expect(at(10, decided('rejected'))).toMatchObject({id: 'budget-s1-x-turns-2', allowed: 10});
    expect(at(20, decided('rejected', 'approved', 'withdrawn'))).toMatchObject({id: 'budget-s1-x-turns-4'});
    expect(at(29, decided('rejected', 'approved', 'withdrawn', 'approved'))).toBeUndefined();
  });

  it('of nothing asks before the first call, and is lifted by one approval', () => {
    const zero = {home: {cost_usd: 0}};
    expect(firstReachedLimit(input(zero))).toMatchObject({limit: 0, used: 0});
    const spend = {agent: NOTHING_SPENT, all: spent({cost_usd: 1e6})};
    expect(
      firstReachedLimit(input({...zero, spent: spend}, {'budget-2026-11-16-cost_usd-1': 'approved'})),
    ).toBeUndefined();
  });

  it('has a request of its own for each session, agent, day, kind and piece of work, with a valid id', () => {
    const name = fc.oneof(
      fc.constantFrom(
        'a',
        'a-2026-11-16',
        '2026-11-16',
        'a@x',
        'a_x',
        'b/a',
        'x'.repeat(128),
        `${'x'.repeat(127)}y`,
        'Ä',
      ),
      fc.string({minLength: 1}),
    );
    const since = fc.constantFrom(now, '2026-11-16T10:00:00.001Z', '2026-11-16', 'message 1', 'message 11', 'start');
    const limits: SpendLimits = {turns: 0, tokens: 0, cost_usd: 0};
    const any = fc.record({session: name, agent: name, since, day: fc.constantFrom(day, '2026-11-17')});
    fc.assert(
      fc.property(any, any, (one, other) => {
        const ids = (of: typeof one) =>
          [...allReachedLimits(input({...of, work: {since: of.since, turns: 1}, own: limits, home: limits}))].map(
            r => r.id,
          );
        const [a, b] = [ids(one), ids(other)];
        expect(a.every(isId), a.join()).toBe(true);
        expect(new Set(a).size).toBe(a.length);
        expect(a[0] === b[0]).toBe(one.session === other.session && one.since === other.since);
        expect(a[1] === b[1]).toBe(one.agent === other.agent && one.day === other.day);
        expect(a[3] === b[3]).toBe(one.day === other.day);
        for (const [i, id] of a.entries()) for (const [j, them] of b.entries()) if (i !== j) expect(id).not.toBe(them);
      }),
      {numRuns: 300},
    );
  });
});

const limit: ReachedLimit = {
  id: 'budget-a-2026-11-16-tokens-1',
  scope: 'agent',
  what: 'tokens',
  limit: 1000,
  inTemplate: true,
  allowed: 1000,
  used: 1234,
  session: 's1',
  agent: 'a',
  day,
};

describe('limits that hold by default', () => {
  it('turns of one piece of work, unless the template or the settings say otherwise', () => {
    const reached = (turns: number, over: Partial<LimitInput> = {}) =>
      firstReachedLimit(input({work: {since: now, turns}, ...over}));
    expect(reached(99)).toBeUndefined();
    const found = reached(100);
    expect(found).toMatchObject({scope: 'work', what: 'turns', limit: 100, inTemplate: false});
    expect(found && budgetItem(found, now).fields?.limit).toBe('limits.max_turns: 100 in agentdir.yaml');
    expect(reached(100, {home: {turns_per_work: 150}})).toBeUndefined();
    expect(reached(100, {own: {turns: 150}})).toBeUndefined();
  });

  it('what follows from one cause, whoever made it; approved, as much again', () => {
    const chain = {chain: 'boss#2026-11-16T09:00:00.000Z', hops: 3};
    const reached = (caused: Partial<Caused>, over: Partial<LimitInput> = {}, decided = {}) =>
      firstReachedLimit(
        input(
          {
            work: {since: now, turns: 0, chain},
            caused: cause => (cause === chain.chain ? {...NOTHING_CAUSED, ...caused} : NOTHING_CAUSED),
            ...over,
          },
          decided,
        ),
      );
    expect(reached({sessions: 100, tasks: 100, messages: 300})).toBeUndefined();
    for (const [what, count] of Object.entries({sessions: 101, tasks: 101, messages: 301})) {
      const found = reached({[what]: count});
      expect(found).toMatchObject({scope: 'cause', what, limit: count - 1, cause: chain.chain});
      const {title, fields} = budgetItem(found as ReachedLimit, now);
      expect(title).toBe(
        `Approve more ${what}: what began with ${chain.chain} led to ${count - 1} ${what} without a person in between`,
      );
      expect(fields?.limit).toBe(`limits.per_cause.${what}: ${count - 1} in agentdir.yaml`);
      expect(reached({[what]: count}, {}, {[found?.id ?? '']: 'approved'})).toBeUndefined();
      expect(reached({[what]: 2 * count}, {}, {[found?.id ?? '']: 'approved'})).toMatchObject({what});
    }
    expect(reached({tasks: 101}, {home: {tasks: 200}})).toBeUndefined();
    // The session that all of it began in is limited by the same request.
    const root = reached({tasks: 101}, {session: 'boss', work: {since: '2026-11-16T09:00:00.000Z', turns: 2}});
    expect(root?.id).toBe(reached({tasks: 101})?.id);
  });

  it('requests that wait for a person; sessions that wait go on when half of them are decided', () => {
    const reached = (open: number, waits: boolean, over: Partial<LimitInput> = {}) =>
      firstReachedLimit(input({requests: {open, waits}, ...over}));
    expect(reached(199, false)).toBeUndefined();
    const found = reached(200, false);
    expect(found).toMatchObject({id: `budget-${day}-requests-1`, what: 'requests', limit: 200});
    expect(found && budgetItem(found, now)).toMatchObject({
      title: 'Approve more open requests: agents that want to ask you wait: 200 open requests need your decision first',
      fields: {limit: 'limits.open_requests: 200 in agentdir.yaml'},
    });
    expect(reached(101, true)?.id).toBe(found?.id);
    expect(reached(100, true)).toBeUndefined();
    expect(reached(200, false, {home: {requests: 300}})).toBeUndefined();
  });
});

describe('the request', () => {
  it('says what is reached and what approving it grants, and reads back as a pending item', () => {
    const text = addTask(parseTasks('# Mine\n'), newApprovalItem(budgetItem(limit, now)));
    const [item] = readApprovalItems(parseTasks(text)).items;
    expect(item).toMatchObject({id: limit.id, type: 'budget', agent: 'a', status: 'pending', decision: undefined});
    expect(item?.task.title).toBe('Approve more tokens: a used 1,234 of 1,000 tokens on 2026-11-16');
    expect(item && fieldOf(item.task, 'limit')).toBe('limits.max_tokens: 1000 in the template of a');
    expect(item && fieldOf(item.task, 'grants')).toBe('1,000 tokens more on 2026-11-16');
    expect(item && fieldOf(item.task, 'session')).toBe('s1');
    const words = (over: Partial<ReachedLimit>) => budgetItem({...limit, ...over}, now);
    expect(words({scope: 'work', what: 'turns', limit: 1, allowed: 1, used: 1}).title).toBe(
      'Approve more turns: s1 used 1 turn for one piece of work',
    );
    expect(words({scope: 'home', what: 'cost_usd', limit: 20, allowed: 40, used: 40.0212}).title).toBe(
      'Approve more cost: all agents together used $40.0212 of $40.00 on 2026-11-16',
    );
    expect(words({limit: 0, allowed: 0, used: 0}).fields?.grants).toBe('no limit of tokens on 2026-11-16');
  });
});

describe('the queue', () => {
  const by = 'Ada <ada@example.org>';
  const complete = (text: string, asked: readonly ReachedLimit[] = [], waiting = 1) => {
    const file = parseTasks(text);
    const {items} = readApprovalItems(file);
    return completeQueue(
      {...file, items},
      {
        now,
        by,
        asked: new Map(asked.map(r => [r.id, r])),
        waiting: () => waiting,
        requests: [],
        taken: new Map(),
        outcomeOf: () => undefined,
        isGone: () => true,
        saidAt: () => undefined,
        againOf: () => undefined,
      },
    );
  };
  const asked = complete('# Mine\n\n## TODO\n\n- [_] "Another"\n  id: x\n', [limit])?.text ?? '';
  const decide = (box: 'x' | '-' | ' ', text = asked) => {
    const file = parseTasks(text);
    const task = file.tasks.find(found => fieldOf(found, 'id') === limit.id);
    return task ? setBox(file, task, box) : '';
  };
  const itemIn = (text = '') => readApprovalItems(parseTasks(text)).items.find(({id}) => id === limit.id);

  it('gets each request once', () => {
    expect(itemIn(asked)?.status).toBe('pending');
    expect(complete(asked, [limit])).toBeUndefined();
    const two = complete(asked, [limit, {...limit, id: 'other'}]);
    expect(two?.words).toBe('other asked');
    expect(two?.text.startsWith(asked.trimEnd())).toBe(true);
  });

  it('has every decision recorded once, with who and when, and keeps what the person wrote', () => {
    const approved = complete(decide('x'), [limit], 2);
    expect(approved?.words).toBe(`${limit.id} approved`);
    expect(itemIn(approved?.text)).toMatchObject({status: 'approved', by, at: now});
    expect(approved?.text).toContain('outcome: granted; 2 sessions may go on');
    expect(complete(approved?.text ?? '')).toBeUndefined();
    const said = decide('x').replace('  status: pending', '  status: pending\n  approved_by: me');
    expect(itemIn(complete(said)?.text)).toMatchObject({by: 'me', at: now});
    const rejected = complete(decide('-'));
    expect(itemIn(rejected?.text)).toMatchObject({status: 'rejected', by, at: now});
    expect(rejected?.text).toContain('outcome: 1 session paused');
    expect(complete(rejected?.text ?? '')).toBeUndefined();
  });

  it('has what nobody waits for withdrawn, and what was set back asked again', () => {
    const withdrawn = complete(asked)?.text ?? '';
    const item = itemIn(withdrawn);
    expect(item && approvalState(item)).toBe('withdrawn');
    expect(complete(withdrawn)).toBeUndefined();
    const back = complete(decide(' ', withdrawn), [limit])?.text ?? '';
    expect(itemIn(back)).toMatchObject({status: 'pending', decision: undefined});
    const late = complete(decide('x', withdrawn))?.text ?? '';
    expect(itemIn(late)).toMatchObject({status: 'approved', decision: 'approved'});
  });

  it('is left alone where an item is of another type', () => {
    expect(complete('- [x] "Run it"\n  id: x\n  approval_type: terminal_command\n')).toBeUndefined();
    expect(complete('- [_] "Without id"\n  approval_type: budget\n')).toBeUndefined();
  });

  it('takes many requests at once, beside decisions', () => {
    const many = Array.from({length: 45}, (_, i) => ({...limit, id: `budget-${i}`}));
    const done = complete(decide('x'), many);
    expect(done?.words).toBe(`${limit.id} approved, budget-0 asked and 44 more`);
    const {tasks, problems} = parseTasks(done?.text ?? '');
    expect(problems).toEqual([]);
    expect(tasks.map(task => fieldOf(task, 'id'))).toEqual(['x', limit.id, ...many.map(({id}) => id)]);
    expect(complete(done?.text ?? '', many)).toBeUndefined();
  });
});

describe('a session at its limit', () => {
  const session = parseSession(
    "agent_id: a # mine\nstatus: active\nupdated: '2026-11-16T10:00:00.000Z'\nmessages:\n  - role: user\n    content: x\n",
  );
  const waiting = {text: sessionText(waitForMore(session, limit, now).session)};
  const end = (state: ApprovalState | undefined, still: boolean, text = waiting.text) =>
    textual(endWait(parseSession(text), {state: () => state, reached: still ? [limit] : [], now}));
  const textual = (ended: ReturnType<typeof endWait>) =>
    ended && {text: sessionText(ended.session), words: ended.words};

  it('waits, and names what it waits for', () => {
    expect(parseSession(waiting.text).header).toMatchObject({
      status: 'waiting',
      waiting_for: limit.id,
      updated: '2026-11-16T10:00:00.001Z',
    });
    expect(waiting.text).toContain('agent_id: a # mine\n');
    expect(end('pending', true)).toBeUndefined();
    expect(end(undefined, true)).toBeUndefined();
  });

  it('goes on when that is approved or not needed any more, and pauses when it is rejected', () => {
    for (const over of [end('approved', true), end('withdrawn', true), end('pending', false), end(undefined, false)]) {
      const {header, messages} = parseSession(over?.text ?? '');
      expect(header?.status).toBe('active');
      expect(header?.waiting_for).toBeUndefined();
      expect(messages).toEqual(session.messages);
    }
    expect(parseSession(end('rejected', true)?.text ?? '').header?.status).toBe('paused');
    expect(end('approved', true)?.words).toBe(`goes on, since ${limit.id} was approved`);
  });

  it('that a person gave another status only forgets what it waited for', () => {
    const over = end('pending', true, waiting.text.replace('status: waiting', 'status: completed'));
    expect(parseSession(over?.text ?? '').header).toMatchObject({status: 'completed'});
    expect(over?.text).not.toContain('waiting_for');
    expect(end('pending', true, 'agent_id: a\nstatus: active\nmessages: []\n')).toBeUndefined();
  });

  it('waits for its own request, whichever other limits are reached', () => {
    expect(afterWait('x', 'pending', [limit, {...limit, id: 'x'}])).toBe('wait');
    expect(afterWait('x', 'pending', [limit])).toBe('go on');
  });
});
