import {afterAll, beforeAll, beforeEach, describe, expect, it} from 'vitest';
import type {Answer, ModelRequest} from '../../src/effects/model/answer.ts';
import {Models} from '../../src/effects/model/models.ts';
import type {ServerChoice} from '../../src/formats/model-choice.ts';
import {type FakeOpenAI, type Reaction, startFakeOpenAI} from './fake-openai.mjs';

let server: FakeOpenAI;
let models: Models;

beforeAll(async () => {
  server = await startFakeOpenAI();
});
afterAll(() => server.close());
beforeEach(() => {
  models = new Models();
  server.violations.length = 0;
});

const KEY = 'key-1234567890';

function choice(changes: Partial<ServerChoice> = {}): ServerChoice {
  return {
    kind: 'openai',
    id: 'fake-1',
    baseURL: server.url,
    apiKey: KEY,
    keyVariable: 'FAKE_KEY',
    price: undefined,
    contextTokens: undefined,
    silenceMs: 2000,
    ...changes,
  };
}

function request(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    agent: 'planner-001',
    messages: [{role: 'user', content: 'hi'}],
    session: [{role: 'user', content: 'hi'}],
    tools: [{name: 'list_agents', description: 'Agents.', parameters: {type: 'object', properties: {}}}],
    signal: new AbortController().signal,
    onText: () => {},
    ...changes,
  };
}

/** Ask once, the server reacting so; nothing in the request may be wrong. */
async function ask(
  reaction: Reaction,
  changes: Partial<ServerChoice> = {},
  asked: Partial<ModelRequest> = {},
): Promise<Answer> {
  server.answer = () => reaction;
  const answer = await models.ask(choice(changes), request(asked), []);
  expect(server.violations).toEqual([]);
  expect(JSON.stringify(answer)).not.toContain(KEY);
  return answer;
}

function replyOf(answer: Answer) {
  if (!('reply' in answer)) throw new Error(JSON.stringify(answer));
  return answer.reply;
}

describe('an answer', () => {
  it('is streamed, and counted', async () => {
    const words: string[] = [];
    const answer = await ask(
      {text: 'Redis is up.', usage: {prompt_tokens: 1000, completion_tokens: 200}, model: 'fake-1-2026'},
      {price: {input: 3, output: 15}},
      {onText: word => words.push(word)},
    );
    expect(words).toEqual(['Redis ', 'is ', 'up.']);
    expect(answer).toEqual({
      reply: {
        content: 'Redis is up.',
        calls: [],
        model: 'fake-1-2026',
        usage: {input_tokens: 1000, output_tokens: 200, cost_usd: 0.006},
        cut: false,
      },
    });
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('comes word by word, as the server sends it', async () => {
    const times: number[] = [];
    await ask({text: 'one two three', delay: 20}, {}, {onText: () => times.push(performance.now())});
    expect(times).toHaveLength(3);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(25);
  });

  it('may be several calls, with text', async () => {
    const long = JSON.stringify({pattern: 'x'.repeat(300)});
    const reply = replyOf(
      await ask({
        text: 'I look.',
        calls: [
          {id: 'a', name: 'grep', arguments: long},
          {id: 'b', name: 'list_agents', arguments: ''},
        ],
      }),
    );
    expect(reply.content).toBe('I look.');
    expect(reply.calls).toEqual([
      {id: 'a', name: 'grep', arguments: long},
      {id: 'b', name: 'list_agents', arguments: ''},
    ]);
  });

  it('has calls with ids of their own, whatever the server gives', async () => {
    const session = [
      {
        role: 'assistant' as const,
        tool_calls: [{id: 'a', function: {name: 'grep', arguments: '{}'}}],
      },
    ];
    const calls = ['a', 'b', 'b', ''].map(id => ({id, name: 'grep', arguments: {}}));
    const reply = replyOf(await ask({calls}, {}, {session}));
    const ids = reply.calls.map(call => call.id);
    expect(new Set(ids).size).toBe(4);
    expect(ids[1]).toBe('b');
    for (const id of ids) expect(id).toMatch(/^(?:b|call_[0-9a-f]{24})$/);
  });

  it('is taken as plain JSON from a server that does not stream', async () => {
    const words: string[] = [];
    const asked = {onText: (word: string) => words.push(word)};
    const reply = replyOf(await ask({text: 'whole', calls: [{id: 'a', name: 'grep'}], plain: true}, {}, asked));
    expect(reply).toMatchObject({content: 'whole', calls: [{id: 'a', name: 'grep', arguments: '{}'}]});
    expect(reply.usage).toEqual({input_tokens: 10, output_tokens: 5});
    expect(words).toEqual(['whole']);
  });

  it('may be a refusal, which is text', async () => {
    expect(replyOf(await ask({refusal: 'I cannot help with that.'})).content).toBe('I cannot help with that.');
  });

  it('that is cut off says so, and a call cut off never looks complete', async () => {
    expect(replyOf(await ask({text: 'Once upon a', finish: 'length'}))).toMatchObject({
      content: 'Once upon a',
      cut: true,
    });
    const reply = replyOf(await ask({calls: [{name: 'write_file', arguments: ''}], finish: 'length'}));
    expect(reply.calls[0]?.arguments).toBe('{');
  });

  it('needs no [DONE], and no finish reason before one', async () => {
    expect(replyOf(await ask({text: 'hi', done: false})).content).toBe('hi');
    expect(replyOf(await ask({text: 'hi', finish: null})).content).toBe('hi');
  });

  it('is whole once it has its finish reason, whatever the server does then', async () => {
    const events = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({choices: [{index: 0, delta, finish_reason}]})}\r\n\r\n`;
    const raw = events({content: 'hi'}, null) + events({}, 'stop');
    for (const more of ['', 'data: {"us', '<html>', 'data: nonsense\n\n'])
      expect(replyOf(await ask({raw: raw + more}))).toMatchObject({content: 'hi', model: 'fake-1', usage: undefined});
    expect(replyOf(await ask({text: 'hi there', stall: 3}, {silenceMs: 600}))).toMatchObject({content: 'hi there'});
  });

  it('is read from servers that number calls and split texts in ways of their own', async () => {
    const event = (delta: object) => `data:${JSON.stringify({choices: [{delta}]})}\n\n`;
    const raw =
      ': comment\n\nevent: message\n' +
      event({
        content: [
          {type: 'text', text: 'I '},
          {type: 'text', text: 'look'},
        ],
        reasoning_content: 'hm',
      }) +
      event({tool_calls: [{index: 0, id: 'a', function: {name: 'grep', arguments: {pattern: 'x'}}}]}) +
      event({tool_calls: [{index: 0, id: 'b', function: {name: 'gl'}}]}) +
      event({tool_calls: [{index: 0, id: 'b', function: {name: 'ob', arguments: '{}'}}]}) +
      event({tool_calls: [{index: 1, function: {}}]}) +
      'data: {"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":7}}\n\ndata: null\n\ndata: [DONE]\n\n';
    expect(replyOf(await ask({raw}))).toEqual({
      content: 'I look',
      calls: [
        {id: 'a', name: 'grep', arguments: '{"pattern":"x"}'},
        {id: 'b', name: 'glob', arguments: '{}'},
        {id: expect.stringMatching(/^call_/), name: 'unknown', arguments: ''},
      ],
      model: 'fake-1',
      usage: {input_tokens: 0, output_tokens: 7},
      cut: false,
    });
  });

  it('is asked for without usage where the server does not know that', async () => {
    const before = server.requests.length;
    server.answer = ({stream_options}) =>
      stream_options ? {status: 400, error: {message: 'Unknown field: stream_options'}} : {text: 'hi', usage: null};
    for (let n = 0; n < 2; n++)
      expect(replyOf(await models.ask(choice(), request(), []))).toMatchObject({content: 'hi', usage: undefined});
    expect(server.requests.length - before).toBe(3);
  });

  it('uses connections again', async () => {
    const own = await startFakeOpenAI();
    for (let n = 0; n < 12; n++) replyOf(await models.ask(choice({baseURL: own.url}), request(), []));
    // fetch opens a second one if it is asked right after an answer.
    expect(own.connections).toBeLessThanOrEqual(2);
    await own.close();
  });

  it('comes from the first model made for chat, if none is named; asked for once', async () => {
    const own = await startFakeOpenAI({models: ['text-embedding-3', 'chatty']});
    const asked = choice({baseURL: own.url, id: undefined});
    await Promise.all([models.ask(asked, request(), []), models.ask(asked, request(), [])]);
    expect(replyOf(await models.ask(asked, request(), [])).model).toBe('chatty');
    expect(own.modelsAsked).toBe(1);
    own.models = [];
    expect(await new Models().ask(asked, request(), [])).toMatchObject({
      failed: expect.stringContaining('lists no model'),
    });
    await own.close();
  });

  it('is asked for without a key where there is none', async () => {
    replyOf(await ask({text: 'hi'}, {apiKey: undefined, keyVariable: undefined}));
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
  });
});

describe('asked again', () => {
  it.each<[string, Reaction, object]>([
    ['429', {status: 429, headers: {'retry-after': '2'}}, {kind: 'busy', after: 2000}],
    ['429 in ms', {status: 429, headers: {'retry-after-ms': '250', 'retry-after': '9'}}, {kind: 'busy', after: 250}],
    ['429 without a time', {status: 429}, {kind: 'busy', after: undefined}],
    ['500', {status: 500}, {kind: 'server'}],
    ['503 with a page', {status: 503, raw: '<html>down</html>'}, {kind: 'server'}],
    ['408', {status: 408}, {kind: 'server'}],
    ['409', {status: 409}, {kind: 'server'}],
    ['closed before an answer', {close: 'headers'}, {kind: 'connection'}],
    ['closed in its midst', {text: 'one two three', close: 1}, {kind: 'connection'}],
    ['ended in its midst', {text: 'one two three', close: 1, politely: true}, {kind: 'connection'}],
    ['silent from the start', {stall: 'headers'}, {kind: 'silence'}],
    ['silent in its midst', {text: 'one two three', stall: 1}, {kind: 'silence'}],
    ['only signs of life', {text: 'one two', stall: 1, pings: 10}, {kind: 'silence'}],
    ['a page', {raw: '<html>Welcome to nginx</html>'}, {kind: 'garbage'}],
    ['broken JSON', {raw: 'data: {"choices": [\n\n'}, {kind: 'garbage'}],
    ['an event cut off by the end', {raw: 'data: {"choices": ['}, {kind: 'connection'}],
    ['too much', {raw: `data: {"x": "${'x'.repeat(9_000_000)}`}, {kind: 'garbage'}],
    ['nothing at all', {raw: ''}, {kind: 'connection'}],
    ['an empty reply', {text: ''}, {kind: 'empty'}],
    ['an empty reply, without events', {empty: true}, {kind: 'empty'}],
    ['white space', {text: ' \n '}, {kind: 'empty'}],
    ['an empty plain reply', {plain: true}, {kind: 'empty'}],
    ['an error in its midst', {raw: 'data: {"error":{"message":"overloaded","code":529}}\n\n'}, {kind: 'server'}],
    ['failed, by its own word', {text: 'one', finish: 'error'}, {kind: 'server'}],
    ['a plain error', {raw: '{"error":{"message":"slow down","type":"rate_limit_error"}}'}, {kind: 'busy'}],
  ])('%s', async (_, reaction, expected) => {
    const answer = await ask(reaction, {silenceMs: 'stall' in reaction ? 40 : 2000});
    expect(answer).toMatchObject({retry: expect.stringMatching(/127\.0\.0\.1/), ...expected});
  });

  it('a date to wait for', async () => {
    const answer = await ask({status: 429, headers: {'retry-after': new Date(Date.now() + 5000).toUTCString()}});
    if (!('retry' in answer)) throw new Error(JSON.stringify(answer));
    expect(answer.after).toBeGreaterThan(3000);
    expect(answer.after).toBeLessThanOrEqual(5000);
  });

  it('no server', async () => {
    const gone = await startFakeOpenAI();
    await gone.close();
    const answer = await models.ask(choice({baseURL: gone.url}), request(), []);
    expect(answer).toMatchObject({kind: 'connection', retry: expect.stringContaining('connection refused')});
  });
});

describe('not asked again', () => {
  it.each<[string, Reaction, RegExp, RegExp]>([
    ['401', {status: 401, error: {message: `Incorrect API key provided: ${KEY}`}}, /redacted/, /set FAKE_KEY to/],
    [
      '401, key in part',
      {status: 401, error: {message: 'Wrong key: sk-abc***xyz'}},
      /: Wrong key: \[redacted: key\]/,
      /FAKE_KEY/,
    ],
    [
      '401, key across the cut',
      {status: 401, error: {message: `${'x'.repeat(290)} ${KEY} ${Buffer.from(KEY).toString('base64')}`}},
      /^(?!.*key-)/,
      /FAKE_KEY/,
    ],
    ['403', {status: 403}, /does not allow/, /FAKE_KEY/],
    [
      '404',
      {status: 404, error: {code: 'model_not_found', message: 'no'}},
      /no model "other"/,
      /It has fake-1, fake-2/,
    ],
    ['400', {status: 400, error: {message: 'Invalid value'}}, /refused.*Invalid value/, /correct/],
    ['422 of another shape', {status: 422, raw: '{"detail":"bad field"}'}, /bad field/, /correct/],
    [
      'context',
      {status: 400, error: {code: 'context_length_exceeded', message: 'too long'}},
      /longer than/,
      /new session/,
    ],
    ['quota', {status: 429, error: {code: 'insufficient_quota', message: 'pay'}}, /no credit/, /add credit/],
    ['413', {status: 413}, /longer than/, /new session/],
    ['429 for ever', {status: 429, error: {message: 'Request too large for gpt-4'}}, /longer than/, /new session/],
    ['filtered', {empty: true, finish: 'content_filter'}, /content filter/, /change the last message/],
  ])('%s', async (_, reaction, failed, hint) => {
    const answer = await ask(reaction, {id: 'other'});
    expect(answer).toMatchObject({failed: expect.stringMatching(failed), hint: expect.stringMatching(hint)});
    expect('tooLong' in answer).toBe(/longer than/.test(failed.source));
  });

  it('a URL that is none, or that holds a password', async () => {
    for (const baseURL of ['localhost:1', 'http://me:secret@127.0.0.1:1/v1', 'nonsense']) {
      const answer = await models.ask(choice({baseURL}), request(), []);
      expect(answer).toMatchObject({failed: expect.stringContaining('base URL')});
      expect(JSON.stringify(answer)).not.toContain('secret');
    }
  });

  it('a choice that failed', async () => {
    expect(await models.ask({failed: 'no', hint: 'do'}, request(), [])).toEqual({failed: 'no', hint: 'do'});
  });
});

describe('aborted', () => {
  it.each<[string, Reaction]>([
    ['before the answer', {stall: 'headers'}],
    ['within it', {text: 'one two three', stall: 2}],
  ])('%s, at once', async (_, reaction) => {
    const controller = new AbortController();
    const seen = server.requests.length;
    const words: string[] = [];
    server.answer = () => reaction;
    const answer = models.ask(choice(), request({signal: controller.signal, onText: word => words.push(word)}), []);
    await until(() => server.requests.length > seen && (reaction.stall !== 2 || words.length === 2));
    const start = performance.now();
    controller.abort();
    expect(await answer).toEqual({aborted: true});
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('even before it began', async () => {
    expect(await models.ask(choice(), request({signal: AbortSignal.abort()}), [])).toEqual({aborted: true});
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 2));
}
