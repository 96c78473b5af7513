import {expect, it} from 'vitest';
import {awaitedNames, deliveredTasks} from '../../src/decide/awaited.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';

const said = (content: string): Message => ({role: 'assistant', content});
const heard = (from: string, delivery?: string): Message => ({
  role: 'user',
  from,
  content: 'x',
  ...(delivery && {delivery}),
});
const sent = (to: string): Message => ({
  role: 'assistant',
  tool_calls: [{id: 'c', function: {name: 'send_message', arguments: JSON.stringify({to, content: 'x'})}}],
});

it('a session waits for those it wrote to since it got a task, until they answer', () => {
  const messages = [
    said('thanks, @old'),
    heard('task/a', 'task/a#1'),
    heard('system', 'task/a#1 reminder'),
    sent('@ann'),
    sent('bob'),
    heard('@ann'),
    said('I asked `@code` and @cyd'),
  ];
  expect(deliveredTasks(messages)).toEqual(['task/a#1']);
  expect([...awaitedNames(messages, 'task/a#1')].sort()).toEqual(['bob', 'cyd']);
  expect([...awaitedNames([...messages, heard('@bob'), heard('@cyd')], 'task/a#1')]).toEqual([]);
});

it('it does not wait for an answer to what was never sent', () => {
  const result = (success: boolean): Message => ({
    role: 'tool_result',
    tool_call_id: 'c',
    content: JSON.stringify(success ? {success} : {success, code: 'DENIED', error: 'the policy says no'}),
  });
  const messages = [heard('task/a', 'task/a#1'), sent('ann'), result(true), sent('bob'), result(false), said('I wait')];
  expect([...awaitedNames(messages, 'task/a#1')]).toEqual(['ann']);
});
