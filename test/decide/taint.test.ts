import {expect, it} from 'vitest';
import {taintOf} from '../../src/decide/taint.ts';
import {parseSession} from '../../src/formats/session/session.ts';

/** A session with one call and its result. */
function hearing(name: string, args: object, result: object) {
  const messages = [
    {role: 'user', content: 'Go on.'},
    {
      role: 'assistant',
      content: '',
      tool_calls: [{id: 'c1', type: 'function', function: {name, arguments: JSON.stringify(args)}}],
    },
    {role: 'tool_result', tool_call_id: 'c1', content: JSON.stringify(result)},
  ];
  return parseSession(JSON.stringify({agent_id: 'coder', messages}));
}

it.each([
  ['fetch', {url: 'https://x/'}, 'fetch https://x/'],
  ['bash', {command: 'curl x'}, 'execute_command curl x'],
  ['read_file', {path: '.untrusted/a.b.page.txt'}, 'read_file .untrusted/a.b.page.txt'],
  ['grep', {pattern: 'x'}, 'grep x'],
  ['search_files', {query: 'x'}, 'search_files x'],
])('a session is tainted by what %s says is of others, not by what stands in it', (name, args, source) => {
  expect(taintOf(hearing(name, args, {success: true, untrusted: true}))).toEqual([source]);
  expect(taintOf(hearing(name, args, {success: true, content: '{"untrusted":true}'}))).toEqual([]);
});
