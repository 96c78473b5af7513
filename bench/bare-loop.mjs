// node bare-loop.mjs BASE_URL: the least a loop over the openai package does, timed; prints JSON.
import OpenAI from 'openai';

const client = new OpenAI({baseURL: process.argv[2], apiKey: 'none', maxRetries: 0});
const tools = ['list_agents', 'list_sessions'].map(name => ({
  type: 'function',
  function: {name, description: name, parameters: {type: 'object', properties: {}}},
}));
const trivial = {
  list_agents: () => ({success: true, agents: []}),
  list_sessions: () => ({success: true, sessions: []}),
};

/** One answer, streamed and put together. */
async function answer(messages) {
  const stream = await client.chat.completions.create({
    model: 'fake',
    messages,
    tools,
    stream: true,
    stream_options: {include_usage: true},
  });
  let content = '';
  const calls = [];
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta;
    if (delta?.content) content += delta.content;
    for (const call of delta?.tool_calls ?? []) {
      calls[call.index] ??= {id: '', type: 'function', function: {name: '', arguments: ''}};
      if (call.id) calls[call.index].id = call.id;
      if (call.function?.name) calls[call.index].function.name += call.function.name;
      if (call.function?.arguments) calls[call.index].function.arguments += call.function.arguments;
    }
  }
  return {role: 'assistant', content: content || null, ...(calls.length > 0 && {tool_calls: calls})};
}

/** A user message, two calls, an answer. */
export async function turn(messages) {
  messages.push({role: 'user', content: 'Is Redis up?'});
  for (;;) {
    const message = await answer(messages);
    messages.push(message);
    if (!message.tool_calls) return;
    for (const {
      id,
      function: {name},
    } of message.tool_calls)
      messages.push({role: 'tool', tool_call_id: id, content: JSON.stringify(trivial[name]())});
  }
}

const fresh = () => [{role: 'system', content: 'You plan.'}];
async function time(messages) {
  const begun = performance.now();
  await turn(messages);
  return performance.now() - begun;
}

const times = [];
for (let i = 0; i < 120; i++) times.push(await time(fresh()));
const long = fresh();
const growing = [];
for (let i = 0; i < 100; i++) growing.push(await time(long));
const sessions = Number(process.argv[3]);
const rounds = Number(process.argv[4]);
const all = Array.from({length: sessions}, fresh);
const begun = performance.now();
for (let i = 0; i < rounds; i++) await Promise.all(all.map(turn));
const seconds = (performance.now() - begun) / 1000;
console.log(JSON.stringify({times: times.slice(20), growing, rate: (sessions * rounds) / seconds}));
