import type {Message} from '../formats/session/session-schema.ts';
import {senderOf} from './history.ts';

/** A message as `recall` returns it. */
export interface RecalledMessage {
  n: number;
  from: string;
  time?: string;
  text: string;
  calls?: string[];
  untrusted?: true;
}

export type Recall = {messages: RecalledMessage[]; found: number; more?: string};

/** Characters of all messages that one call returns, and of one of several. */
const [MOST_TEXT, MOST_EACH] = [12_000, 2_000];
const MOST_FOUND = 12;

/** The messages with these numbers. `offset`: characters of the first one to skip. */
export function recallRange(messages: readonly Message[], from: number, to: number, offset = 0): Recall {
  const last = Math.min(to, messages.length);
  const found: RecalledMessage[] = [];
  let room = MOST_TEXT;
  for (let n = from; n <= last; n++) {
    const message = messages[n - 1] as Message;
    const text = (message.content ?? '').slice(n === from ? offset : 0);
    const begin = n === from ? offset : 0;
    if (text.length > room && found.length > 0)
      return {messages: found, found: last - from + 1, more: `recall {"from": ${n}, "to": ${to}}`};
    found.push(recalled(message, n, text.slice(0, room)));
    if (text.length > room)
      return {
        messages: found,
        found: last - from + 1,
        more: `recall {"from": ${n}, "to": ${to}, "offset": ${begin + room}}`,
      };
    room -= text.length + 100;
    if (room <= 0 && n < last)
      return {messages: found, found: last - from + 1, more: `recall {"from": ${n + 1}, "to": ${to}}`};
  }
  return {messages: found, found: Math.max(0, last - from + 1)};
}

/** The messages that have the words of the query, those with the rarest words first. What `recall` returned before is left out. */
export function recallQuery(messages: readonly Message[], query: string): Recall {
  const words = [...new Set(wordsIn(query))];
  const own = new Set(messages.flatMap(({tool_calls = []}) => tool_calls.filter(isRecall).map(({id}) => id)));
  const texts = messages.map(message => {
    if (message.tool_calls?.some(isRecall) || own.has(message.tool_call_id ?? '')) return '';
    return textOf(message).toLowerCase();
  });
  const counts = new Map(words.map(word => [word, texts.filter(text => text.includes(word)).length]));
  const scored = texts
    .map((text, index) => {
      let score = text.includes(query.trim().toLowerCase()) ? 5 : 0;
      for (const word of words) if (text.includes(word)) score += Math.log(1 + texts.length / (counts.get(word) || 1));
      return {index, score};
    })
    .filter(({score}) => score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index);
  const found: RecalledMessage[] = [];
  let room = MOST_TEXT;
  for (const {index} of scored.slice(0, MOST_FOUND)) {
    const message = messages[index] as Message;
    const text = excerpt(message.content ?? '', words, Math.min(MOST_EACH, room));
    if (room < 200) break;
    found.push(recalled(message, index + 1, text));
    room -= text.length + 100;
  }
  const left = scored.length - found.length;
  return {
    messages: found,
    found: scored.length,
    ...(left > 0 && {more: `${left} more match less well: use rarer words, or from and to`}),
  };
}

function isRecall({function: {name}}: NonNullable<Message['tool_calls']>[number]): boolean {
  return name === 'recall';
}

function textOf({content, tool_calls = []}: Message): string {
  return [content ?? '', ...tool_calls.map(({function: {name, arguments: args}}) => `${name} ${args}`)].join('\n');
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_.:/@-]*[\p{L}\p{N}]/gu) ?? [];
}

/** The part of a long text with most of the words. */
function excerpt(text: string, words: readonly string[], most: number): string {
  if (text.length <= most) return text;
  const lower = text.toLowerCase();
  const rarest = words.map(word => lower.indexOf(word)).filter(at => at !== -1);
  const at = Math.max(0, Math.min(...rarest, text.length) - (most >> 2));
  const begin = Number.isFinite(at) && at < text.length ? at : 0;
  return `${begin > 0 ? '… ' : ''}${text.slice(begin, begin + most)}${begin + most < text.length ? ' …' : ''}`;
}

function recalled(message: Message, n: number, text: string): RecalledMessage {
  const {role, timestamp, tool_calls = []} = message;
  const {name, untrusted} = senderOf(message);
  return {
    n,
    from: role === 'user' ? name : role,
    ...(timestamp !== undefined && {time: timestamp}),
    text,
    ...(tool_calls.length > 0 && {
      calls: tool_calls.map(({function: {name: tool, arguments: args}}) => `${tool} ${args.slice(0, 300)}`),
    }),
    ...(untrusted && {untrusted: true as const}),
  };
}
