import fc from 'fast-check';
import {expect, it} from 'vitest';
import {historyProblems} from '../../src/check/session-history.ts';
import type {ChatMessage} from '../../src/decide/chat.ts';
import {chatHistory} from '../../src/decide/history.ts';
import {nextAction} from '../../src/decide/turn.ts';
import {parseSession} from '../../src/formats/session/session.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {forkSession} from '../../src/formats/undo/fork-session.ts';
import {runs} from '../arbitrary.ts';

const NOW = '2026-11-17T10:00:00.000Z';
const THEN = '2026-11-16T10:00:00.000Z';

const header = {
  ...{session_id: 's1', agent_id: 'a', model: 'm', system_prompt: 'p', 'x-title': 'kept', tainted: ['inbox/x#1']},
  ...{status: 'waiting' as const, waiting_for: 'w1', shared: true, task: 't1', thread: 'th', ephemeral: true},
  mentions_due: [{to: 'b', answer: THEN}],
  tasks_due: [{task: 'task/t1#1', answer: THEN, as: 'completed' as const}],
};

const fork = (messages: readonly Message[], paused = false) =>
  forkSession({
    ...{header, messages, segments: [], id: 'a-2', paused, now: NOW, schema: 'x'},
    from: {session: 's1', message: messages.length},
  });

/** A turn: a message, then answers with some calls, of which some have results, in any order, and what came meanwhile. */
const turn = fc.record({
  calls: fc.array(fc.record({has: fc.boolean(), started: fc.boolean(), asked: fc.boolean()}), {maxLength: 3}),
  meanwhile: fc.boolean(),
  answered: fc.boolean(),
});

function historyFrom(turns: readonly (typeof turn extends fc.Arbitrary<infer T> ? T : never)[]): Message[] {
  return turns.flatMap(({calls, meanwhile, answered}, t) => {
    const made = calls.map((call, i) => ({...call, id: `c${t}_${i}`}));
    const user = (text: string): Message => ({
      ...{timestamp: THEN, role: 'user', from: '@b', content: text, delivery: `task/t${t}${text}#1`, reply_to: 's9'},
    });
    const tool_calls = made.map(({id, started, asked}) => ({
      ...{id, type: 'function' as const, function: {name: 'execute_command', arguments: '{}'}},
      ...(asked && {approval: `approval${t}`}),
      ...(started && {started: THEN, run: 'r', where: 'host'}),
    }));
    const results = made.flatMap(({id, has}): Message[] =>
      has ? [{timestamp: THEN, role: 'tool_result', tool_call_id: id, content: '{}'}] : [],
    );
    return [
      user('one'),
      ...(made.length > 0 ? [{timestamp: THEN, role: 'assistant' as const, tool_calls}, ...results.reverse()] : []),
      ...(meanwhile ? [user('two')] : []),
      ...(answered ? [{timestamp: THEN, role: 'assistant' as const, content: 'done'}] : []),
    ];
  });
}

/** What every server demands. */
function isValid(chat: readonly ChatMessage[]): boolean {
  let open: string[] = [];
  for (const message of chat) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) return false;
      open = open.filter(id => id !== message.tool_call_id);
    } else if (open.length > 0) return false;
    if (message.role === 'assistant') open = (message.tool_calls ?? []).map(({id}) => id);
  }
  return open.length === 0;
}

it('at each message of any history the fork is valid, says nothing new, and has nothing to run', () => {
  fc.assert(
    fc.property(fc.array(turn, {minLength: 1, maxLength: 4}), turns => {
      const messages = historyFrom(turns);
      for (let count = 0; count <= messages.length; count++) {
        const {text, awaits, open} = fork(messages.slice(0, count));
        const session = parseSession(text);
        expect(session.problems).toEqual([]);
        expect(historyProblems('sessions/a-2.session.yaml', session)).toEqual([]);
        const chat = chatHistory('p', session.messages);
        expect(isValid(chat)).toBe(true);
        // Each call has its own result in the file, and none that the reader made up.
        expect(JSON.stringify(chat)).not.toContain('no result of this call was recorded');
        expect(nextAction(session.messages)).toEqual({do: awaits ? 'ask' : 'rest'});
        expect(session.header?.status).toBe(awaits ? 'active' : 'sleeping');
        for (const mark of ['approval:', 'started:', 'run:', 'where:', 'delivery:', 'reply_to:'])
          expect(text).not.toMatch(new RegExp(`^ +(?:- )?${mark}`, 'm'));
        expect(session.messages.length).toBe(count + open.length);
      }
    }),
    runs(40),
  );
});

it('takes over who it is and what it has read, and nothing that it waits for, owes or gets', () => {
  const {header: made} = parseSession(fork([{role: 'user', content: 'x', timestamp: THEN}], true).text);
  expect(made).toEqual({
    ...{session_id: 'a-2', agent_id: 'a', model: 'm', system_prompt: 'p', 'x-title': 'kept', tainted: ['inbox/x#1']},
    ...{created: NOW, updated: NOW, status: 'paused', forked_from: {session: 's1', message: 1}},
  });
});
