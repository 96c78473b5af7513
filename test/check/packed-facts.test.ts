import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {packFacts, unpackFacts} from '../../src/check/packed-facts.ts';
import {factsOf} from '../../src/check/read-facts.ts';
import {runs} from '../arbitrary.ts';
import {someFile} from './some-files.ts';

const throughCache = (path: string, text: string) => {
  const facts = factsOf(path, text);
  const packed = packFacts(path, facts);
  return {facts, packed, unpacked: unpackFacts(path, JSON.parse(JSON.stringify(packed)))};
};

const SPEND = `day: 2025-10-04
agents:
  a: {turns: 1, input_tokens: 10, output_tokens: 2, cost_usd: 0.25}
`;
const BUDGET = `## TODO

- [_] "Approve more"
  id: budget-1
  approval_type: budget
  agent: a
  status: pending
`;

describe('facts in the cache', () => {
  it('are what they were, of whatever file', () => {
    fc.assert(
      fc.property(someFile, ({path, text}) => {
        const {facts, unpacked} = throughCache(path, text);
        expect(unpacked).toEqual(facts);
      }),
      runs(300),
    );
  });

  it('are short where a session has nothing unusual, and whole where it has', () => {
    const session = (more: string) => `session_id: s\nagent_id: a\n${more}messages:\n  - role: user\n    content: x\n`;
    const packed = (more: string) => throughCache('sessions/x/s.session.yaml', session(more)).packed;
    expect(packed('')).toEqual([1, 'a', null, null, null, 1, 13, 2, 11, ['', '', 0, 0], 0]);
    for (const more of [
      'shared: true\n',
      'status: error\n',
      'segments: [s.1]\n',
      'status: odd\n',
      'session_id: t\n',
      'status: waiting\nwaiting_for: budget-1\n',
    ])
      expect(packed(more)).not.toBeInstanceOf(Array);
  });

  it('have what a session spent, and are short nevertheless', () => {
    const {facts, packed, unpacked} = throughCache(
      'sessions/s.session.yaml',
      `session_id: s
agent_id: a
messages:
  - role: user
    content: x
  - role: assistant
    timestamp: '2025-10-04T10:05:23.000Z'
    usage: {input_tokens: 10, output_tokens: 2, cost_usd: 0.25}
    content: y
`,
    );
    expect(packed).toEqual([
      2,
      'a',
      null,
      null,
      null,
      1,
      13,
      2,
      11,
      ['', '', 0, 0],
      0,
      '2025-10-04',
      1,
      10,
      2,
      0.25,
      0,
    ]);
    expect(unpacked).toEqual(facts);
  });

  it('have what follows from a cause, in sessions and task files, and are short nevertheless', () => {
    const message = (chain: string) => `  - {role: user, from: "@b", content: x, chain: ${chain}, hops: 2}\n`;
    const text = `session_id: s\nagent_id: a\nmessages:\n${message('one')}${message('two')}${message('one')}`;
    const session = throughCache('sessions/s.session.yaml', text);
    expect(session.packed).toBeInstanceOf(Array);
    expect(session.unpacked).toEqual(session.facts);
    expect(session.facts.causes).toEqual({
      one: {sessions: 1, tasks: 0, messages: 2},
      two: {sessions: 0, tasks: 0, messages: 1},
    });
    // Its older messages were moved into a segment, which counts the session.
    expect(throughCache('sessions/s.session.yaml', `segments: [s.1]\n${text}`).facts.causes?.one?.sessions).toBe(0);
    expect(throughCache('sessions/archive/s.1.session.yaml', text).facts.causes?.one?.sessions).toBe(1);
    const task = (id: string) => `- [ ] @a "${id}"\n  id: ${id}\n  created_by: @b\n  chain: 1 one\n`;
    const tasks = throughCache('tasks/t.task.md', `## TODO\n\n${task('x')}${task('y')}`);
    expect(tasks.facts.causes).toEqual({one: {sessions: 0, tasks: 2, messages: 0}});
    expect(tasks.unpacked).toEqual(tasks.facts);
  });

  it('have the limits, approvals and spend of other files', () => {
    const files: Record<string, string> = {
      'agentdir.yaml': 'limits: {per_day: {tokens: 5}}\n',
      'templates/a.agent.yaml': 'id: a\ntype: t\nsystem_prompt: p\ncapabilities: [read_file]\nlimits: {max_turns: 3}\n',
      'state/spend.yaml': SPEND,
      'tasks/approvals.task.md': BUDGET,
    };
    const found = Object.entries(files).map(([path, text]) => {
      const {facts, unpacked} = throughCache(path, text);
      expect(unpacked).toEqual(facts);
      return facts;
    });
    expect(found.map(({limits, spend, approvals}) => limits ?? spend ?? approvals)).toEqual([
      {tokens: 5},
      {turns: 3},
      expect.objectContaining({day: '2025-10-04'}),
      {'budget-1': 'pending'},
    ]);
  });
});
