import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import type {Reply} from '../../src/effects/model/answer.ts';
import {Models} from '../../src/effects/model/models.ts';
import {type Playbook, parsePlaybook} from '../../src/formats/playbook.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';

function playbook(text: string): Playbook {
  const {value, problems} = parsePlaybook(text);
  expect(problems).toEqual([]);
  if (!value) throw new Error('no playbook');
  return value;
}

async function ask(playbooks: readonly Playbook[], session: readonly Message[], agent = 'planner-001'): Promise<Reply> {
  const words: string[] = [];
  const answer = await new Models().ask(
    {kind: 'playbook', why: 'test'},
    {agent, messages: [], session, tools: [], signal: new AbortController().signal, onText: word => words.push(word)},
    playbooks,
  );
  if (!('reply' in answer)) throw new Error(JSON.stringify(answer));
  expect(words.join('')).toBe(answer.reply.content ?? '');
  expect(answer.reply).toMatchObject({model: 'playbook', usage: undefined, cut: false});
  return answer.reply;
}

const user = (content: string, from?: string): Message => ({role: 'user', content, ...(from ? {from} : {})});

function afterCall(tool: string, result: string): Message[] {
  return [
    user('hi'),
    {role: 'assistant', model: 'playbook', tool_calls: [{id: 'c1', function: {name: tool, arguments: '{}'}}]},
    {role: 'tool_result', tool_call_id: 'c1', content: result},
  ];
}

const redis = playbook(`
version: 1
rules:
  - name: look
    when: {agent: executor-*, role: user, from: task/*, text: 'is (?<service>redis|postgres) (up)'}
    say: I look at {{ service }}.
    call:
      - tool: execute_command
        arguments: {command: 'docker ps {{ service }} --format "{{.Status}}"', list: ['{{2}}', 3, {deep: '{{ agent }}'}]}
    once: true
  - when: {role: tool_result, tool: execute_command, success: true, text: '(Up [^"]*)'}
    say: '{{ 1 }}'
  - when: {role: tool_result, success: false}
    say: It failed.
  - when: {text: again}
    say: "you said: {{ text }} {{ nothing }} {{ constructor }}"
  - when: {from: '@*'}
    say: an agent
`);

describe('the playbook', () => {
  it('answers by the first rule that matches, with what it captured', async () => {
    const reply = await ask([redis], [user('Is Redis up?', 'task/t1')], 'executor-001');
    expect(reply.content).toBe('I look at Redis.');
    expect(reply.calls).toEqual([
      {
        id: expect.stringMatching(/^call_[0-9a-f]{24}$/),
        name: 'execute_command',
        arguments: JSON.stringify({
          command: 'docker ps Redis --format "{{.Status}}"',
          list: ['up', 3, {deep: 'executor-001'}],
        }),
      },
    ]);
  });

  it.each<[string, Message[], string | RegExp]>([
    ['the result of a call', afterCall('execute_command', '{"success":true,"stdout":"Up 3 days"}'), 'Up 3 days'],
    ['a failure', afterCall('execute_command', '{"success":false,"code":"DENIED"}'), 'It failed.'],
    ['a result that is no JSON', afterCall('execute_command', 'Up'), /No rule/],
    ['the result of another call', afterCall('grep', '{"success":true,"stdout":"Up 3 days"}'), /No rule/],
    ['an agent, also of another home', [user('x', '@home/coder')], 'an agent'],
    ['a text', [user('AGAIN')], 'you said: AGAIN {{ nothing }} {{ constructor }}'],
    ['another sender', [user('is redis up')], /a script and not an AI[\s\S]*OPENAI_API_KEY/],
    ['nothing', [], /No rule/],
  ])('is asked about %s', async (_, session, expected) => {
    expect((await ask([redis], session, 'executor-001')).content).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    );
  });

  it('answers once where that is asked for', async () => {
    const first = user('is redis up', 'task/t1');
    const {content, calls} = await ask([redis], [first], 'executor-001');
    const answer: Message = {
      role: 'assistant',
      model: 'playbook',
      content,
      tool_calls: calls.map(({id, ...call}) => ({id, function: call})),
    };
    const again = await ask([redis], [first, answer, first], 'executor-001');
    expect(again.content).toMatch(/No rule/);
    const other: Message = {role: 'assistant', model: 'gpt', content: 'I look at redis.'};
    expect((await ask([redis], [first, other, first], 'executor-001')).calls).toHaveLength(1);
  });

  it('goes through all playbooks, in order; without "when" a rule always matches', async () => {
    const last = playbook('{version: 1, rules: [{say: "always\\n"}]}');
    expect((await ask([redis, last], [user('again')])).content).toMatch(/^you said/);
    expect((await ask([redis, last], afterCall('x', '{}'))).content).toBe('always');
  });

  it('never answers with nothing', async () => {
    const empty = playbook(`{version: 1, rules: [{name: e, when: {text: 'x(y*)'}, say: '{{ 1 }}'}]}`);
    expect((await ask([empty], [user('x')])).content).toContain('"e"');
  });

  it('fills in the list of a tool result, one item a line', async () => {
    const list = playbook('{version: 1, rules: [{when: {role: tool_result}, say: "{{ list }}"}]}');
    const words = async (result: string) => (await ask([list], afterCall('x', result))).content;
    expect(await words('{"success":true,"agents":[{"id":"a","type":"t","description":"Does A."},{"id":"b"}]}')).toBe(
      '- a: Does A.\n- b',
    );
    expect(await words('{"tasks":[{"id":"t1","title":"Look","state":"pending"}]}')).toBe('- t1: Look, pending');
    expect(await words('{"files":["x","y"]}')).toBe('- x\n- y');
    expect(await words('{"agents":[]}')).toBe('(none)');
    expect(await words('plain')).toBe('plain');
  });

  it('answers which agents there are in words', async () => {
    const shipped = [
      playbook(readFileSync(new URL('../../playbooks/first-run.playbook.yaml', import.meta.url), 'utf8')),
    ];
    expect((await ask(shipped, [user('which agents are there?')])).calls[0]?.name).toBe('list_agents');
    const found = afterCall('list_agents', '{"success":true,"agents":[{"id":"coder","description":"Writes code."}]}');
    expect((await ask(shipped, found)).content).toContain('\n- coder: Writes code.\n');
    const refused = afterCall('list_agents', '{"success":false,"error":"no","code":"NOT_ALLOWED"}');
    expect((await ask(shipped, refused, 'retriever-001')).content).toContain('agentdir list');
  });

  it('the one that comes with Agentdir says what it is, and makes a plan', async () => {
    const shipped = [
      playbook(readFileSync(new URL('../../playbooks/first-run.playbook.yaml', import.meta.url), 'utf8')),
    ];
    expect((await ask(shipped, [user('hello')])).content).toContain('not an AI');
    expect((await ask(shipped, [user('Is redis running?', 'human')])).calls[0]?.name).toBe('query_tasks');
    const [plan] = (await ask(shipped, afterCall('query_tasks', '{"success":true,"rows":[]}'))).calls;
    expect(plan?.name).toBe('create_task');
    expect((await ask(shipped, [user('is redis up', 'inbox/slack.jsonl#1')])).calls[0]?.name).toBe('query_tasks');
    const runtime = afterCall('read_file', '{"success":true,"content":"Container runtime: docker"}');
    const [command] = (await ask(shipped, runtime, 'executor-001')).calls;
    expect(command?.arguments).toContain('docker ps --filter \\"name=redis\\" --format \\"{{.Status}}\\"');
  });
});
