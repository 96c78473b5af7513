import {createServer} from 'node:net';
import {expect, it, onTestFinished} from 'vitest';
import {put, until} from '../cli/run.ts';
import {startFakeOpenAI} from '../model/fake-openai.mjs';
import {openHouse} from './house.ts';
import {read} from './serve.ts';
import {atRest, leastForm, pathOf, sessionOf, transcript, whenIt} from './talk.ts';

/** A port where nobody listens yet. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as {port: number};
  await new Promise(resolve => server.close(resolve));
  return port;
}

const closed = await freePort();
/** The server is part of this test, and on a busy machine it may itself be silent for a second. */
const SILENCE_S = 4;
const silent = new RegExp(`said nothing for ${SILENCE_S} s`);

const house = openHouse(url => ({
  'agentdir.yaml': `format: 1
name: home
concurrency: 32
default_model: hasty
models:
  - {id: hasty, base_url: "${url}", timeout_seconds: ${SILENCE_S}}
  - {id: healthy, base_url: "${url.replace('127.0.0.1', 'localhost')}"}
  - {id: down, base_url: "http://127.0.0.1:${closed}/v1"}
`,
}));

const begin = (id: string, model: string) =>
  put(house.home, {[pathOf(id)]: `model: ${model}\n${leastForm(`${id}: hello?`)}`});

/** What goes wrong at first, and how often it is asked until all is well. */
const passing = {
  stalls: {first: {stall: 'headers'}, says: silent},
  hangs: {first: {text: 'half of it', stall: 1}, says: silent},
  closes: {first: {text: 'half of an answer', close: 2}, says: /closed the connection|no answer/},
  refuses: {first: {close: 'headers'}, says: /no answer/},
  garbage: {first: {raw: '<html>Bad gateway</html>'}, says: /not an answer of a model/},
  empty: {first: {text: ''}, says: /answered nothing/},
  broken: {first: {status: 500}, says: /500/},
  busy: {first: {status: 429, headers: {'retry-after': '2'}}, says: /429|busy|too many/i},
} as const;

/** What no waiting helps against. */
const lasting = {
  unknown: {always: {status: 401, error: {message: 'Incorrect API key provided'}}, says: /401.*api_key_env/, tries: 1},
  invalid: {always: {status: 400, error: {message: 'Unsupported parameter'}}, says: /400.*Unsupported/, tries: 1},
  silent: {always: {text: ''}, says: /answered nothing.*tried 3 times/, tries: 3},
  nonsense: {always: {raw: 'what?'}, says: /not an answer of a model.*tried 3 times/, tries: 3},
} as const;

it('each fault of a model server ends as it should, and nobody else waits for it', async () => {
  const {home, stage, daemon} = house;
  const at = new Map<string, number[]>();
  for (const [id, {first}] of Object.entries(passing))
    stage.parts.set(id, (_, nth) => {
      at.set(id, [...(at.get(id) ?? []), performance.now()]);
      return nth === 0 ? first : {text: 'all is well'};
    });
  for (const [id, {always}] of Object.entries(lasting)) stage.parts.set(id, () => always);
  // How long an answer takes on this machine while nothing is wrong.
  const calm = performance.now();
  begin('calm', 'healthy');
  await whenIt(home, 'calm', atRest);
  const usual = performance.now() - calm;
  for (const id of [...Object.keys(passing), ...Object.keys(lasting)]) begin(id, 'default');
  begin('refused', 'down');

  // Somebody else's conversation, from the first fault to the last: each answer as soon as ever.
  const healthy: number[] = [];
  const faulty = () =>
    [...Object.keys(passing), ...Object.keys(lasting), 'refused'].filter(
      id => !['sleeping', 'error'].includes(sessionOf(home, id).header?.status ?? ''),
    );
  const opened = () => daemon.events.some(({event, session}) => event === 'retrying' && session === 'refused');
  let server: Awaited<ReturnType<typeof startFakeOpenAI>> | undefined;
  onTestFinished(async () => {
    await server?.close();
  });
  for (let i = 0; faulty().length > 0; i++) {
    const began = performance.now();
    begin(`healthy${i}`, 'healthy');
    await whenIt(home, `healthy${i}`, atRest);
    healthy.push(performance.now() - began);
    if (!server && opened()) server = await startFakeOpenAI({port: closed, answer: () => ({text: 'up again'})});
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  // No fault is over sooner than after a second and a half.
  expect(healthy.length).toBeGreaterThan(2);
  expect(healthy.sort((a, b) => a - b)[healthy.length >> 1]).toBeLessThan(1_000 + 3 * usual);

  for (const [id, {says}] of Object.entries(passing)) {
    expect(transcript(sessionOf(home, id)), id).toEqual([`user: ${id}: hello?`, 'assistant: all is well']);
    expect(stage.asked(id), id).toHaveLength(2);
    const told = daemon.events.filter(({event, session}) => event === 'retrying' && session === id);
    expect(told, id).toMatchObject([{why: expect.stringMatching(says)}]);
  }
  const [first = 0, second = 0] = at.get('busy') ?? [];
  expect(second - first).toBeGreaterThanOrEqual(1_990);
  for (const [id, {says, tries}] of Object.entries(lasting)) {
    const {header, messages} = sessionOf(home, id);
    expect(header, id).toMatchObject({status: 'error', error: expect.stringMatching(says)});
    expect(header?.error, id).toContain('status: active');
    expect(messages, id).toHaveLength(1);
    expect(stage.asked(id), id).toHaveLength(tries);
  }
  expect(transcript(sessionOf(home, 'refused'))).toEqual(['user: refused: hello?', 'assistant: up again']);
  // What is over needs nobody any more; what is not is named.
  const needs = await until(
    () => read(home, 'NEEDS_YOU.md'),
    text => Object.keys(lasting).every(id => text.includes(id)),
  );
  for (const id of Object.keys(passing)) expect(needs).not.toContain(pathOf(id));
});
