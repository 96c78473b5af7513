// A server that speaks OpenAI's chat protocol, is as strict as OpenAI about what it is sent, and answers by a script.
// For tests and benches; `node fake-openai.mjs --port 0 --script turn` runs it as a process of its own.
import {createServer} from 'node:http';
import {fileURLToPath} from 'node:url';
import {invalid} from './strict-chat.mjs';

/** @typedef {import('./fake-openai.d.mts').Reaction} Reaction */

/** @type {Record<string, (request: any, n: number) => Reaction>} */
export const scripts = {
  /** A user message: two calls. Their results: "done". */
  turn: (request, n) =>
    request.messages.at(-1).role === 'tool'
      ? {text: 'done'}
      : {
          calls: [
            {id: `call_${n}_a`, name: 'list_agents', arguments: {}},
            {id: `call_${n}_b`, name: 'list_sessions', arguments: {}},
          ],
        },
  echo: request => ({text: String(request.messages.at(-1).content)}),
};

/** @param {import('./fake-openai.d.mts').Options} [options] */
export async function startFakeOpenAI(options = {}) {
  const {port = 0, keep = true, check = invalid, models = ['fake-1', 'fake-2']} = options;
  const server = createServer((request, response) => {
    take(fake, request, response, {keep, check}).catch(error => {
      fake.errors.push(error);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  const sockets = new Set();
  server.on('connection', socket => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
  });
  const fake = {
    url: '',
    answer: options.answer ?? (() => ({text: 'hello'})),
    models,
    modelsAsked: 0,
    requests: [],
    count: 0,
    violations: [],
    errors: [],
    get connections() {
      return sockets.size;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise(resolve => server.close(() => resolve(undefined)));
    },
  };
  await new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(undefined));
  });
  fake.url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/v1`;
  return fake;
}

async function take(fake, request, response, {keep, check}) {
  const at = performance.now();
  const date = Date.now();
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.method === 'GET' && request.url === '/v1/models') {
    fake.modelsAsked++;
    return json(response, 200, {
      object: 'list',
      data: fake.models.map(id => ({id, object: 'model', owned_by: 'fake'})),
    });
  }
  // What was asked so far, for those who run this as a process.
  if (request.method === 'GET' && request.url === '/seen')
    return json(response, 200, {
      count: fake.count,
      violations: fake.violations,
      requests: fake.requests.map(({at, date, headers: _, ...rest}) => ({
        ...rest,
        at: performance.timeOrigin + at,
        date,
      })),
    });
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
    return fail(response, 404, {message: `Invalid URL (${request.method} ${request.url})`});
  let body;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    fake.violations.push('the body is not JSON');
    return fail(response, 400, {message: 'We could not parse the JSON body of your request.'});
  }
  const n = fake.count++;
  fake.requests.push(keep ? {at, date, headers: request.headers, body} : {at, date});
  const wrong = check(body);
  if (wrong) {
    fake.violations.push(`${wrong.param}: ${wrong.message}`);
    return fail(response, 400, wrong);
  }
  const reaction = await fake.answer(body, n);
  if (reaction.latency) await sleep(reaction.latency);
  if (!response.destroyed) await react(reaction, body, n, response);
}

/** @param {Reaction} reaction */
async function react(reaction, body, n, response) {
  if (reaction.stall === 'headers') return;
  if (reaction.close === 'headers') return response.destroy();
  if (reaction.raw !== undefined) {
    response.writeHead(reaction.status ?? 200, {'content-type': 'text/html', ...reaction.headers});
    return response.end(reaction.raw);
  }
  if (reaction.status !== undefined && reaction.status !== 200)
    return fail(response, reaction.status, reaction.error ?? {message: `Status ${reaction.status}`}, reaction.headers);
  if (body.stream && !reaction.plain) await stream(reaction, body, n, response);
  else plain(reaction, body, n, response);
}

function plain(reaction, body, n, response) {
  const message = {role: 'assistant', content: reaction.text ?? null, refusal: reaction.refusal ?? null};
  if (reaction.calls) message.tool_calls = callsOf(reaction, n).map(({index: _, ...call}) => call);
  json(
    response,
    200,
    {
      ...envelope(reaction, body, n, 'chat.completion'),
      choices: [{index: 0, message, finish_reason: finish(reaction), logprobs: null}],
      ...(reaction.usage === null ? {} : {usage: usageOf(reaction)}),
    },
    reaction.headers,
  );
}

/** @param {Reaction} reaction */
async function stream(reaction, body, n, response) {
  response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8', ...reaction.headers});
  const head = envelope(reaction, body, n, 'chat.completion.chunk');
  const event = (delta, finish_reason = null) =>
    `data: ${JSON.stringify({...head, choices: [{index: 0, delta, finish_reason, logprobs: null}]})}\n\n`;
  const events = reaction.empty ? [] : [event({role: 'assistant', content: reaction.calls ? null : ''})];
  for (const word of (reaction.text ?? '').match(/\S+\s*|\s+/g) ?? []) events.push(event({content: word}));
  if (reaction.refusal) events.push(event({refusal: reaction.refusal}));
  for (const call of reaction.calls ? callsOf(reaction, n) : []) {
    const {name, arguments: text} = call.function;
    events.push(event({tool_calls: [{...call, function: {name, arguments: ''}}]}));
    // In pieces, as OpenAI does.
    for (const piece of text.match(/[\s\S]{1,40}/g) ?? [])
      events.push(event({tool_calls: [{index: call.index, function: {arguments: piece}}]}));
  }
  events.push(event({}, finish(reaction)));
  if (reaction.usage !== null && body.stream_options?.include_usage)
    events.push(`data: ${JSON.stringify({...head, choices: [], usage: usageOf(reaction)})}\n\n`);
  if (reaction.done !== false) events.push('data: [DONE]\n\n');

  const {stall, close, delay} = reaction;
  const upTo = typeof stall === 'number' ? stall : typeof close === 'number' ? close : undefined;
  // The first event only names the role: n words are n + 1 events.
  const sent = upTo === undefined ? events : events.slice(0, upTo + 1);
  if (!delay && upTo === undefined) return response.end(sent.join(''));
  response.flushHeaders();
  for (const [index, text] of sent.entries()) {
    if (delay && index > 0) await sleep(delay);
    if (response.destroyed) return;
    await new Promise(resolve => response.write(text, () => resolve(undefined)));
  }
  if (typeof stall === 'number') {
    if (reaction.pings) for (; !response.destroyed; await sleep(reaction.pings)) response.write(': still there\n\n');
    return;
  }
  if (typeof close !== 'number') return response.end();
  if (reaction.politely) response.end();
  else response.destroy();
}

function envelope(reaction, body, n, object) {
  const model = reaction.model ?? body.model;
  return {id: `chatcmpl-${n}`, object, created: Math.floor(Date.now() / 1000), model, system_fingerprint: 'fp_fake'};
}

function callsOf(reaction, n) {
  return reaction.calls.map((call, index) => ({
    index,
    id: call.id ?? `call_${n}_${index}`,
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
    },
  }));
}

function finish(reaction) {
  return reaction.finish !== undefined ? reaction.finish : reaction.calls ? 'tool_calls' : 'stop';
}

function usageOf({usage}) {
  const {prompt_tokens = 10, completion_tokens = 5} = usage ?? {};
  return {prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens};
}

function fail(response, status, error, headers) {
  const type = status === 401 ? 'authentication_error' : status >= 500 ? 'server_error' : 'invalid_request_error';
  json(response, status, {error: {type, param: null, code: null, ...error}}, headers);
}

function json(response, status, value, headers) {
  response.writeHead(status, {'content-type': 'application/json', ...headers});
  response.end(JSON.stringify(value));
}

function sleep(ms) {
  return new Promise(resolve => setTimeout(resolve, ms));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = name => {
    const at = process.argv.indexOf(`--${name}`);
    return at < 0 ? undefined : process.argv[at + 1];
  };
  const script = scripts[option('script') ?? 'turn'];
  if (!script) {
    console.error(`fake-openai: unknown script; known are ${Object.keys(scripts).join(', ')}`);
    process.exit(2);
  }
  const delay = Number(option('delay') ?? 0);
  const latency = Number(option('latency') ?? 0);
  const {url} = await startFakeOpenAI({
    port: Number(option('port') ?? 0),
    keep: process.argv.includes('--keep'),
    answer: (request, n) => ({delay, latency, ...script(request, n)}),
  });
  // One line, for whoever started it.
  console.log(JSON.stringify({url, pid: process.pid}));
}
