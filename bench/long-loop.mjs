// node long-loop.mjs BASE_URL ROUNDS SIZES: the same conversations by a bare loop over the openai package; prints JSON.
import OpenAI from 'openai';

const [url, rounds, sizes] = [process.argv[2], Number(process.argv[3]), process.argv[4].split(',').map(Number)];
const client = new OpenAI({baseURL: url, apiKey: 'none', maxRetries: 0});
const conversations = sizes.map(size => ({
  size,
  messages: Array.from({length: size}, (_, i) =>
    i % 2 === 0
      ? {role: 'user', content: `Is Redis up, for the ${i}th time?`}
      : {role: 'assistant', content: `Yes it was at ${i - 1}`},
  ),
}));

async function turn(messages) {
  messages.push({role: 'user', content: 'Is Redis up?'});
  const stream = await client.chat.completions.create({model: 'fake', messages, stream: true});
  let content = '';
  for await (const chunk of stream) content += chunk.choices[0]?.delta?.content ?? '';
  messages.push({role: 'assistant', content});
}

const all = [];
for (let round = 0; round < rounds + 3; round++)
  for (const {size, messages} of conversations) {
    const before = process.cpuUsage();
    const begun = performance.now();
    await turn(messages);
    const ms = performance.now() - begun;
    const {user, system} = process.cpuUsage(before);
    if (round >= 3) all.push({size, ms, cpu: (user + system) / 1000});
  }
console.log(JSON.stringify(all));
