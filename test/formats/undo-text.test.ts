import {describe, expect, it} from 'vitest';
import type {Kind} from '../../src/formats/common/key.ts';
import {BLANK} from '../../src/formats/undo/undo-session.ts';
import {undoText} from '../../src/formats/undo/undo-text.ts';

/** before → after is the change, then what was written since; `gives` is what is left of it all. */
interface Case {
  kind: Kind;
  before: string;
  after: string;
  now?: string;
  gives: string | {refused: RegExp} | {overlaps: RegExp};
}

const head = (status = 'sleeping', more = '') =>
  `session_id: s1\nagent_id: planner-001\nupdated: '2026-11-16T10:00:00.000Z'\nstatus: ${status}\n${more}messages:\n`;
const user = (text: string, more = '') =>
  `  - timestamp: '2026-11-16T09:00:00.000Z'\n    role: user\n    from: human\n    content: ${text}\n${more}`;
const answer = (text: string) =>
  `  - timestamp: '2026-11-16T09:00:01.000Z'\n    role: assistant\n    model: m\n    content: answer ${text}\n`;
const calls = (marks = '', id = 'c1') =>
  `  - timestamp: '2026-11-16T09:00:02.000Z'\n    role: assistant\n    content: I do\n    tool_calls:\n      - id: ${id}\n        type: function\n        function:\n          name: execute_command\n          arguments: '{"command":"date"}'\n${marks}`;
const started = `        started: '2026-11-16T09:00:03.000Z'\n        run: r1\n`;
const asked = '        approval: svx5vx44mfkv\n';
const result = (content = '{"success":true}') =>
  `  - timestamp: '2026-11-16T09:00:04.000Z'\n    role: tool_result\n    tool_call_id: c1\n    content: '${content}'\n`;
const task = (box: string, fields = '', title = 'Is Redis up?', id = 'redis') =>
  `- [${box}] A @executor-001 "${title}"\n  id: ${id}\n${fields}`;
const todo = (...tasks: string[]) => `# Redis\n\n## TODO\n\n${tasks.join('')}`;

const cases: Record<string, Case> = {
  'a user message, with what was answered to others since': {
    kind: 'session',
    before: head() + user('one') + answer('1'),
    after: head('active') + user('one') + answer('1') + user('two', '    delivery: d2\n'),
    now: head() + user('one') + answer('1') + user('two', '    delivery: d2\n') + answer('2'),
    gives: head() + user('one') + answer('1') + answer('2'),
  },
  'a final answer: the session is as active as it was': {
    kind: 'session',
    before: head('active') + user('one'),
    after: head('sleeping') + user('one') + answer('1'),
    gives: head('active') + user('one'),
  },
  'a final answer of a session that was paused since: it stays paused': {
    kind: 'session',
    before: head('active') + user('one'),
    after: head('sleeping') + user('one') + answer('1'),
    now: head('paused') + user('one') + answer('1'),
    gives: head('paused') + user('one'),
  },
  'an answer whose call only waits for a person': {
    kind: 'session',
    before: head('active') + user('one'),
    after: head('active') + user('one') + calls(),
    now: head('waiting') + user('one') + calls(asked),
    gives: head('waiting') + user('one'),
  },
  'an answer whose call was started': {
    kind: 'session',
    before: head('active') + user('one'),
    after: head('active') + user('one') + calls(),
    now: head('active') + user('one') + calls(started),
    gives: {overlaps: /calls were worked on/},
  },
  'an answer that has its results': {
    kind: 'session',
    before: head('active') + user('one'),
    after: head('active') + user('one') + calls(),
    now: head('active') + user('one') + calls(started) + result(),
    gives: {overlaps: /calls were worked on/},
  },
  'that a call was asked about': {
    kind: 'session',
    before: head('active') + user('one') + calls(),
    after: head('waiting') + user('one') + calls(asked),
    gives: {refused: /would ask again at once/},
  },
  'that a call was started': {
    kind: 'session',
    before: head('active') + user('one') + calls(asked),
    after: head('active') + user('one') + calls(asked + started),
    gives: {refused: /stays marked as started/},
  },
  'a result: blank, for a call is never without one': {
    kind: 'session',
    before: head('active') + user('one') + calls(started),
    after: head('active') + user('one') + calls(started) + result(),
    now: head() + user('one') + calls(started) + result() + answer('1'),
    gives: head() + user('one') + calls(started) + result(BLANK) + answer('1'),
  },
  'what a person rewrote in a message': {
    kind: 'session',
    before: head() + user('one') + answer('1'),
    after: head() + user('uno') + answer('1'),
    now: head() + user('uno') + answer('1') + user('two'),
    gives: head() + user('one') + answer('1') + user('two'),
  },
  'the same, rewritten once more since': {
    kind: 'session',
    before: head() + user('one'),
    after: head() + user('uno'),
    now: head() + user('eins'),
    gives: {overlaps: /content was changed on both sides/},
  },
  'messages that a person removed come back': {
    kind: 'session',
    before: head() + user('one') + answer('1') + user('two'),
    after: head() + user('two'),
    now: head() + user('two') + answer('2'),
    gives: head() + user('one') + answer('1') + user('two') + answer('2'),
  },
  'a status that a person set': {
    kind: 'session',
    before: head('sleeping') + user('one'),
    after: head('paused') + user('one'),
    gives: head('sleeping') + user('one'),
  },
  'a status that somebody else has set since': {
    kind: 'session',
    before: head('sleeping') + user('one'),
    after: head('paused') + user('one'),
    now: head('completed') + user('one'),
    gives: {overlaps: /status is completed/},
  },
  'taint, with the message it came with': {
    kind: 'session',
    before: head() + user('one'),
    after: head('active', 'tainted:\n  - inbox/x#1\n') + user('one') + user('evil', '    untrusted: true\n'),
    gives: head('sleeping', 'tainted:\n  - inbox/x#1\n') + user('one'),
  },
  'taint alone': {
    kind: 'session',
    before: head() + user('one'),
    after: head('sleeping', 'tainted:\n  - inbox/x#1\n') + user('one'),
    gives: {refused: /^the session stays marked/},
  },
  'what was filled in': {
    kind: 'session',
    before: 'agent_id: planner-001\nmessages:\n  - role: user\n    content: one\n',
    after: `session_id: s1\nagent_id: planner-001\nmessages:\n  - role: user\n    content: one\n    from: human\n`,
    gives: {refused: /fill in the same fields again/},
  },
  'messages that moved to a segment': {
    kind: 'session',
    before: head() + user('one') + answer('1') + user('two'),
    after: head('sleeping', 'segments:\n  - sessions/archive/s1.1.session.yaml\n') + user('two'),
    gives: {refused: /stay there/},
  },
  'a tick': {
    kind: 'tasks',
    before: todo(task(' ')),
    after: todo(task('x')),
    gives: todo(task(' ')),
  },
  'a tick, with the time that the daemon wrote: it sees that the task was set back': {
    kind: 'tasks',
    before: todo(task(' ')),
    after: todo(task('x')),
    now: todo(task('x', '  completed: 2026-11-16T10:00:00Z\n'), task(' ', '', 'More', 'more')),
    gives: todo(task(' ', '  completed: 2026-11-16T10:00:00Z\n'), '\n', task(' ', '', 'More', 'more')),
  },
  'a task that was added, and filled in since': {
    kind: 'tasks',
    before: todo(task(' ')),
    after: todo(task(' '), task(' ', '', 'More', 'more')),
    now: todo(task(' '), task(' ', '  created: 2026-11-16T10:00:00Z\n', 'More', 'more')),
    gives: todo(task(' ')),
  },
  'a task that was added, and begun since': {
    kind: 'tasks',
    before: todo(task(' ')),
    after: todo(task(' '), task(' ', '', 'More', 'more')),
    now: todo(task(' '), task('/', '  started: 2026-11-16T10:00:00Z\n', 'More', 'more')),
    gives: {overlaps: /worked on meanwhile/},
  },
  'what an agent completed': {
    kind: 'tasks',
    before: todo(task('/', '  started: 2026-11-16T09:00:00Z\n')),
    after: todo(task('x', '  started: 2026-11-16T09:00:00Z\n  completed: 2026-11-16T10:00:00Z\n  result: up\n')),
    gives: todo(task('/', '  started: 2026-11-16T09:00:00Z\n')),
  },
  'the time of its end, which the daemon filled in': {
    kind: 'tasks',
    before: todo(task('x')),
    after: todo(task('x', '  completed: 2026-11-16T10:00:00Z\n')),
    gives: {refused: /fill in the same fields again/},
  },
  'the time of its start, which the daemon filled in': {
    kind: 'tasks',
    before: todo(task('/')),
    after: todo(task('/', '  started: 2026-11-16T10:00:00Z\n')),
    gives: {refused: /fill in the same fields again/},
  },
  'another time of its end': {
    kind: 'tasks',
    before: todo(task('x', '  completed: 2026-11-16T10:00:00Z\n')),
    after: todo(task('x', '  completed: 2026-11-16T11:00:00Z\n')),
    gives: todo(task('x', '  completed: 2026-11-16T10:00:00Z\n')),
  },
  'that a task was delivered': {
    kind: 'tasks',
    before: todo(task(' ')),
    after: todo(task(' ', '  assigned: 2026-11-16T10:00:00Z\n  session: s1\n')),
    gives: {refused: /^the task stays delivered/},
  },
  'that a task was begun: it keeps the time by which the daemon sees that': {
    kind: 'tasks',
    before: todo(task(' ', '  assigned: 2026-11-16T09:00:00Z\n')),
    after: todo(task('/', '  assigned: 2026-11-16T09:00:00Z\n  started: 2026-11-16T10:00:00Z\n')),
    gives: todo(task(' ', '  assigned: 2026-11-16T09:00:00Z\n  started: 2026-11-16T10:00:00Z\n')),
  },
  'a note, with one more below it': {
    kind: 'tasks',
    before: todo(task('/')),
    after: todo(task('/', '  notes:\n    - 2026-11-16T10:00:00Z @human: one\n')),
    now: todo(task('/', '  notes:\n    - 2026-11-16T10:00:00Z @human: one\n    - 2026-11-16T11:00:00Z @human: two\n')),
    gives: todo(task('/', '  notes:\n    - 2026-11-16T11:00:00Z @human: two\n')),
  },
  'a note in the memory': {
    kind: 'memory',
    before: '# Facts\n\n- 2026-11-15 @scout: one\n',
    after: '# Facts\n\n- 2026-11-15 @scout: one\n- 2026-11-16 @scout: two\n',
    now: '# Facts\n\n- 2026-11-15 @scout: one\n- 2026-11-16 @scout: two\n- 2026-11-16 @scout: three\n',
    gives: '# Facts\n\n- 2026-11-15 @scout: one\n- 2026-11-16 @scout: three\n',
  },
  'a rule of the policy': {
    kind: 'policy',
    before: 'allow:\n  - date\n\ndeny:\n  - rm\n',
    after: 'allow:\n  - date\n  - ls\n\ndeny:\n  - rm\n',
    now: 'allow:\n  - date\n  - ls\n\ndeny:\n  - rm\n  - dd\n',
    gives: 'allow:\n  - date\n\ndeny:\n  - rm\n  - dd\n',
  },
  'lines of a template that were changed again': {
    kind: 'template',
    before: 'id: a\nsystem_prompt: one\n',
    after: 'id: a\nsystem_prompt: two\n',
    now: 'id: a\nsystem_prompt: three\n',
    gives: {overlaps: /same place/},
  },
};

describe('one change of a text, taken back', () => {
  it.each(Object.entries(cases))('%s', (_, {kind, before, after, now = after, gives}) => {
    const undo = undoText(kind, before, after, now);
    if (typeof gives === 'string') {
      expect(undo).toMatchObject({text: gives});
      // An undo is a change like others: taken back, the bytes are what they were.
      const again = undoText(kind, now, gives, gives);
      expect(again).toMatchObject({text: now});
    } else if ('refused' in gives) expect(undo).toEqual({refused: expect.stringMatching(gives.refused)});
    else expect(undo).toEqual({overlaps: [expect.stringMatching(gives.overlaps)]});
  });
});
