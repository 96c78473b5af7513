import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {chatHistory} from '../../src/decide/history.ts';
import {Models} from '../../src/effects/model/models.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {startFakeOpenAI} from './fake-openai.mjs';
import {invalid} from './strict-chat.mjs';

const call = {id: 'a', type: 'function', function: {name: 'grep', arguments: '{}'}};
const hi = {role: 'user', content: 'hi'};
const result = {role: 'tool', tool_call_id: 'a', content: '1'};
const calling = (...tool_calls: object[]) => ({role: 'assistant', content: null, tool_calls});

describe('the fake server', () => {
  it.each<[string, unknown, RegExp]>([
    ['no messages', {messages: []}, /too short/],
    ['a role of its own', {messages: [{role: 'tool_result', content: ''}]}, /Invalid value: 'tool_result'/],
    ['a key of its own', {messages: [{...hi, from: 'x'}]}, /'from'/],
    ['a parameter of its own', {messages: [hi], session: 1}, /Unrecognized/],
    ['content that is no text', {messages: [{role: 'user', content: 1}]}, /Invalid type/],
    ['an empty assistant', {messages: [hi, {role: 'assistant', content: null}]}, /got null/],
    ['a call without result', {messages: [hi, calling(call)]}, /did not have response messages: a/],
    ['a message before the result', {messages: [hi, calling(call), hi, result]}, /must be followed by tool messages/],
    ['a result without call', {messages: [hi, result]}, /must be a response/],
    ['two results', {messages: [hi, calling(call), result, result]}, /was answered/],
    ['one id twice', {messages: [hi, calling(call, call), result, result]}, /Duplicate/],
    [
      'arguments that are no JSON',
      {messages: [calling({...call, function: {name: 'grep', arguments: '{'}}), result]},
      /JSON/,
    ],
    ['a bad name', {messages: [calling({...call, function: {name: 'a b', arguments: '{}'}}), result]}, /match/],
    ['no tools', {messages: [hi], tools: []}, /too short/],
    [
      'a bad tool',
      {messages: [hi], tools: [{type: 'function', function: {name: 'x', parameters: {}}}]},
      /type "object"/,
    ],
    ['half a character', {messages: [{role: 'user', content: '\ud800'}]}, /surrogate/],
  ])('refuses %s', (_, body, expected) => {
    expect(invalid({model: 'm', ...(body as object)})?.message).toMatch(expected);
  });

  it('takes what is right', () => {
    const messages = [
      {role: 'system', content: 's'},
      hi,
      calling(call),
      result,
      {role: 'assistant', content: 'x\\ud800'},
      hi,
    ];
    const tools = [{type: 'function', function: {name: 'grep', parameters: {type: 'object', properties: {}}}}];
    expect(invalid({model: 'm', messages, tools, stream: true, stream_options: {include_usage: true}})).toBeUndefined();
  });

  it('answers 400 as OpenAI does, and remembers why', async () => {
    const server = await startFakeOpenAI();
    const response = await fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({model: 'm', messages: [hi, result]}),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({error: {type: 'invalid_request_error', param: 'messages.[1].role'}});
    expect(server.violations).toHaveLength(1);
    await server.close();
  });

  it('runs as a process of its own, and plays a turn', async () => {
    const path = fileURLToPath(new URL('./fake-openai.mjs', import.meta.url));
    const child = spawn(process.execPath, [path, '--port', '0', '--script', 'turn'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      const baseURL: string = JSON.parse(line).url;
      const session: Message[] = [{role: 'user', content: 'hi'}];
      const ask = async () => {
        const answer = await new Models().ask(
          {
            kind: 'openai',
            id: 'm',
            baseURL,
            apiKey: undefined,
            keyVariable: undefined,
            price: undefined,
            contextTokens: undefined,
            silenceMs: 5000,
          },
          {
            agent: 'a',
            messages: chatHistory('s', session),
            session,
            tools: [],
            signal: new AbortController().signal,
            onText: () => {},
          },
          [],
        );
        if (!('reply' in answer)) throw new Error(JSON.stringify(answer));
        return answer.reply;
      };
      const {calls} = await ask();
      expect(calls.map(({name, arguments: text}) => [name, text])).toEqual([
        ['list_agents', '{}'],
        ['list_sessions', '{}'],
      ]);
      session.push({role: 'assistant', tool_calls: calls.map(({id, ...made}) => ({id, function: made}))});
      for (const {id} of calls) session.push({role: 'tool_result', tool_call_id: id, content: '{"success":true}'});
      expect((await ask()).content).toBe('done');
      const seen = await (await fetch(baseURL.replace('/v1', '/seen'))).json();
      expect(seen).toMatchObject({count: 2, violations: [], requests: [{date: expect.any(Number)}, {}]});
    } finally {
      child.kill();
    }
  });
});
