import {expect} from 'vitest';
import {newSession} from '../../src/formats/session/session.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {agentdir, put} from '../cli/run.ts';
import type {ChatRequest, Reaction} from '../model/fake-openai.mjs';
import {openHouse} from './house.ts';
import {pathOf} from './talk.ts';

export const WINDOW = 8_000;
/** What a server with a window of its own would count: about 4 characters a token. */
export const tokensIn = (request: ChatRequest) =>
  Math.ceil(JSON.stringify([request.messages, request.tools ?? []]).length / 4);
const settings = (url: string) => `format: 1
name: home
default_model: small
models:
  - {id: small, base_url: "${url}", context_tokens: ${WINDOW}}
  - {id: huge, base_url: "${url}"}
`;
const REMEMBERER = `id: rememberer
type: worker
system_prompt: You are brief.
capabilities: [list_agents, create_task]
limits: {max_turns: 77}
compaction: {keep_messages: 10}
`;

const homeFiles = (url: string) => ({
  'agentdir.yaml': settings(url),
  'templates/rememberer.agent.yaml': REMEMBERER,
  'tasks/open.task.md':
    '# Open\n\n## TODO\n- [/] @rememberer "Renew the certificate of shop.example"\n  id: renew-cert\n  started: 2026-01-01T00:00:00.000Z\n  assigned: 2026-01-01T00:00:00.000Z\n',
});

export const isNotes = ({messages}: ChatRequest) => String(messages[0]?.content).startsWith('You take notes');
export const textOf = ({messages}: ChatRequest) => messages.map(({content}) => content).join('\n');

/** A home with a model whose window is small, and every request that its server saw. */
export function openCompactionHouse() {
  const requests: ChatRequest[] = [];
  const house = openHouse(homeFiles, [pathOf('wrong')]);
  const play = (answer: (request: ChatRequest) => Reaction | Promise<Reaction>): void => {
    house.stage.server.answer = async request => {
      requests.push(request);
      const used = tokensIn(request);
      if (request.model === 'small' && used > WINDOW)
        return {
          status: 400,
          error: {message: `This model's maximum context length is ${WINDOW} tokens`, code: 'context_length_exceeded'},
        };
      return {usage: {prompt_tokens: used, completion_tokens: 20}, ...(await answer(request))};
    };
  };
  return {house, requests, play};
}

/** Notes as a model that pays attention would write them: the lines with FACT and PROMISE. */
export const goodNotes = (request: ChatRequest): Reaction => {
  const text = String(request.messages[1]?.content);
  const found = [...new Set(text.match(/(?:FACT|PROMISE) \d+: [^\n.]*\./g) ?? [])];
  return {text: `## Facts\n${found.join('\n')}\n`};
};

export const TIME = '2026-01-01T00:00:00.000Z';
export const user = (content: string, more: Partial<Message> = {}): Message => ({
  timestamp: TIME,
  role: 'user',
  from: 'human',
  content,
  ...more,
});
export const assistant = (content: string): Message => ({timestamp: TIME, role: 'assistant', model: 'small', content});

/** 20 facts and 10 promises, and 2,000 messages after them, some with calls. */
export function longTalk(): Message[] {
  const messages: Message[] = [];
  for (let n = 1; n <= 20; n++)
    messages.push(user(`FACT ${n}: the code of room ${n} is ZX${n * 7919}.`), assistant('Noted.'));
  for (let n = 1; n <= 10; n++)
    messages.push(user(`Will you?`), assistant(`PROMISE ${n}: I will water plant number ${n} on day ${n}.`));
  messages.push(user('NEVER-TOUCH the database of the shop.', {pin: true}), assistant('I will not.'));
  for (let n = 0; messages.length < 2_062; n++) {
    if (n % 10 !== 0)
      messages.push(
        user(`Is everything fine on day ${n}? ${'Please look closely. '.repeat(3)}`),
        assistant(`All is well on day ${n}.`),
      );
    else
      messages.push(
        user(`Who is there on day ${n}?`),
        {
          timestamp: TIME,
          role: 'assistant',
          model: 'small',
          tool_calls: [{id: `call_${n}`, type: 'function', function: {name: 'list_agents', arguments: '{}'}}],
        },
        {
          timestamp: TIME,
          role: 'tool_result',
          tool_call_id: `call_${n}`,
          content: JSON.stringify({success: true, agents: 'x'.repeat(n % 100 === 0 ? 5_000 : 50)}),
        },
        assistant('Those.'),
      );
  }
  return messages;
}

export function makeSession(home: string, id: string, messages: readonly Message[], more: object = {}): void {
  const header = {
    session_id: id,
    agent_id: 'rememberer',
    agent_type: 'worker',
    model: 'small',
    system_prompt: 'You are brief.',
    created: TIME,
    updated: TIME,
    status: 'sleeping' as const,
    keeps: ['model' as const],
    ...more,
  };
  put(home, {[pathOf(id)]: newSession(header, messages, '../schemas/session.json')});
}

/** What `agentdir show --context` prints. */
export const contextOf = async (home: string, id: string) => {
  const {stdout, stderr} = await agentdir(home, ['show', id, '--context', '--json']);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as {
    messages: ChatRequest['messages'];
    tools: object[];
    tokens: number;
    checkpoint: {upto: number} | null;
  };
};
