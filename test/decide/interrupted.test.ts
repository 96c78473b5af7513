import {expect, it} from 'vitest';
import {findInterrupted} from '../../src/decide/interrupted.ts';
import type {Call, Message} from '../../src/formats/session/session-schema.ts';

const call = (id: string, name: string, args: object): Call => ({
  id,
  type: 'function',
  function: {name, arguments: JSON.stringify(args)},
});
const post = (id: string, text: string, channel = 'C1') => call(id, 'slack_send', {channel, text});
const run = (id: string, command = 'make deploy') => call(id, 'execute_command', {command, reason: id});
/** Calls with what became of each. */
const history = (...ended: [Call, string][]): Message[] =>
  ended.flatMap(([each, code]) => [
    {role: 'assistant', tool_calls: [each]} as Message,
    {
      role: 'tool_result',
      tool_call_id: each.id,
      content: JSON.stringify(code === 'ok' ? {success: true} : {success: false, code, error: 'x'}),
    } as Message,
  ]);

it.each([
  ['a command, made again', [[run('a'), 'INTERRUPTED']], run('b'), 'call'],
  ['another command', [[run('a'), 'INTERRUPTED']], run('b', 'make test'), undefined],
  [
    'a command that ended since, however',
    [
      [run('a'), 'INTERRUPTED'],
      [run('b'), 'FAILED'],
    ],
    run('c'),
    undefined,
  ],
  [
    'that a person said no to the retry changes nothing',
    [
      [run('a'), 'INTERRUPTED'],
      [run('b'), 'REJECTED'],
    ],
    run('c'),
    'call',
  ],
  ['a message, word for word', [[post('a', 'Up.'), 'INTERRUPTED']], post('b', 'Up.'), 'call'],
  ['a message in other words', [[post('a', 'Up.'), 'INTERRUPTED']], post('b', 'It is up.'), 'message'],
  ['a message to others', [[post('a', 'Up.'), 'INTERRUPTED']], post('b', 'Up.', 'C2'), undefined],
  [
    'a message whose retry Slack refused',
    [
      [post('a', 'Up.'), 'INTERRUPTED'],
      [post('b', 'Up.'), 'FAILED'],
    ],
    post('c', 'Up.'),
    'call',
  ],
  [
    'a message that was sent since',
    [
      [post('a', 'Up.'), 'INTERRUPTED'],
      [post('b', 'It is up.'), 'ok'],
    ],
    post('c', 'Up.'),
    undefined,
  ],
] as [string, [Call, string][], Call, string | undefined][])('%s', (_, ended, next, as) => {
  const found = findInterrupted([...history(...ended), {role: 'assistant', tool_calls: [next]} as Message], next);
  expect([found?.as, found?.first.id]).toEqual([as, as && 'a']);
});
