// What the fake model does. It has no memory: all follows from the messages it is sent, as for a real one. A message with
// "[soak MARK step step …]" makes it call a tool for each step, a task makes it end that task, and then it answers.
import {startFakeOpenAI} from '../test/model/fake-openai.mjs';
import {steps} from './steps.mjs';

const ORDER = /\[soak (m\d{5}q)((?: [a-z]+(?::[\w.-]+)?)*)\]/g;
const MARK = /m\d{5}q(?: v\d+)?/;

/** The server. `hold` gives what is to happen before a reply to these messages is sent, if anything. */
export async function startMind(world) {
  const held = new Map();
  const under = {count: 0};
  const server = await startFakeOpenAI({
    keep: false,
    models: ['fake-1'],
    answer: async (request, n) => {
      under.count++;
      try {
        const {messages} = request;
        world.ledger.counts.turns++;
        const last = messages.findLast(({role}) => role === 'user');
        const word = MARK.exec(last?.content ?? '')?.[0];
        const hold = word && held.get(word);
        if (hold) {
          hold.asked(n);
          await hold.released;
        }
        return think(world, messages, n);
      } finally {
        under.count--;
      }
    },
  });
  return {
    url: server.url,
    server,
    isAsked: () => under.count > 0,
    /** The reply to this version of a message waits until `release`; `asked` gives the number of the reply. */
    hold: word => {
      let release;
      let asked;
      const hold = {
        released: new Promise(resolve => {
          release = resolve;
        }),
        wasAsked: new Promise(resolve => {
          asked = resolve;
        }),
      };
      held.set(word, {...hold, asked});
      return {
        wasAsked: hold.wasAsked,
        release: () => {
          held.delete(word);
          release();
        },
      };
    },
  };
}

/** The next calls, one or two at a time, or the answer. */
function think(world, messages, n) {
  const due = dueIn(world, messages, n);
  if (due.length > 0) {
    const calls = due.slice(0, n % 3 === 0 ? 2 : 1);
    return {calls: calls.map(({name, args}) => ({name, arguments: args}))};
  }
  const last = messages.findLast(({role}) => role === 'user')?.content ?? '';
  const word = MARK.exec(last)?.[0] ?? 'nothing';
  return {text: `answer n${n}. to ${word}${/\bleak\b/.test(last) ? `, with ${world.secret}` : ''}`};
}

function dueIn(world, messages, n) {
  const due = [];
  for (const [index, {role, content}] of messages.entries()) {
    if (role !== 'user' || !content) continue;
    const later = messages.slice(index + 1);
    const called = calledIn(later);
    for (const [, mark, words] of content.matchAll(ORDER))
      for (const [nth, word] of words.trim().split(' ').filter(Boolean).entries()) {
        const tag = `${mark}-${nth}-`;
        if (called.some(text => text.includes(tag))) continue;
        const [step, to] = word.split(':');
        const made = steps[step]?.(tag, n, {to, later, world});
        if (made) due.push({name: made[0], args: made[1]});
      }
    const id = content.includes('[AGENTDIR TASK]') && /^Id: (\S+)$/m.exec(content)?.[1];
    // A task that was given once more is ended once more: what counts is what was said after this notice.
    if (id && isNewTask(content) && !called.some(text => text.includes(`"id":"${id}"`)))
      due.push({name: 'update_task', args: {id, status: 'completed', note: `done n${n}.`}});
  }
  return due;
}

/** Other notices tell that a task is over, or that it stands still. */
const isNewTask = content => /You have been assigned a task|You ended your turn/.test(content);

const calledIn = messages =>
  messages.flatMap(({tool_calls}) => (tool_calls ?? []).map(call => call.function.arguments));
