import {appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {afterEach, describe, expect, it} from 'vitest';
import {embeddingDone} from '../../src/effects/search/embed-passages.ts';
import {forgetIndexes, writeIndexes} from '../../src/effects/search/indexes.ts';
import {forgetVectors} from '../../src/effects/search/vectors.ts';
import type {ToolResult} from '../../src/effects/tool/tool.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {thorough, until} from '../cli/run.ts';
import {toolHome} from './tool-home.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

interface Asked {
  model: string;
  input: string[];
  authorization: string | undefined;
}

type Reply = (asked: Asked, response: ServerResponse) => void;

/** What a text is about, by the words it has: the mind of the model is scripted. */
const topics = [/cat|kitten|feline/i, /car|vehicle|engine/i, /soup|cook|meal/i];
const vectorOf = (text: string) => [...topics.map(topic => (topic.test(text) ? 1 : 0)), 0.1];
const reply = (response: ServerResponse, status: number, value: unknown) =>
  response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(value));
const good: Reply = ({input}, response) =>
  // In any order: the index counts.
  reply(response, 200, {data: input.map((text, index) => ({index, embedding: vectorOf(text)})).reverse()});

async function fakeServer(answer: Reply) {
  const asked: Asked[] = [];
  const state = {answer};
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const one: Asked = {...JSON.parse(body), authorization: request.headers.authorization};
    asked.push(one);
    if (request.url === '/v1/embeddings') state.answer(one, response);
    else reply(response, 404, {});
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
  return {asked, state, texts: () => asked.flatMap(({input}) => input), settings: {base_url, model: 'small'}};
}

const files = {
  'cats.md': '# Feline\n\nThe kitten sleeps all day.\n',
  'cars.md': '# Vehicle\n\nIts engine is loud.\n',
  'soup.md': '# Meal\n\nBoil the water.\n',
};

function homeWith(search: object, changes = {}) {
  const made = toolHome({search: search as never, ...changes});
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made.workspace, name), text);
  return made;
}

const paths = (result: ToolResult) => (result as unknown as {passages: {path: string}[]}).passages.map(one => one.path);
const noteOf = (result: ToolResult) => (result as {note?: string}).note;

describe('search by meaning', () => {
  it('finds what has none of the words, once vectors are there, and embeds a passage once', async () => {
    process.env.SEARCH_TEST_KEY = 'key-of-the-test';
    ends.push(() => delete process.env.SEARCH_TEST_KEY);
    const {settings, asked, texts} = await fakeServer(good);
    const made = homeWith({embeddings: {...settings, api_key_env: 'SEARCH_TEST_KEY'}});
    const query = {query: 'cat'};
    expect(noteOf(await made.run('search_files', query))).toMatch(/3 of 3 passages have no embedding yet/);
    await embeddingDone(made.home);
    const found = await made.run('search_files', query);
    expect(paths(found)[0]).toBe('cats.md');
    expect(noteOf(found)).toBeUndefined();
    expect(asked[0]).toMatchObject({model: 'small', authorization: 'Bearer key-of-the-test'});

    writeFileSync(join(made.workspace, 'cars.md'), '# Vehicle\n\nA car of another colour.\n');
    await writeIndexes(made.home);
    forgetIndexes(made.home);
    forgetVectors(made.home);
    await made.run('search_files', query);
    await embeddingDone(made.home);
    const passages = texts().filter(text => text !== 'cat');
    expect(passages.length).toBe(4);
    expect(new Set(passages).size).toBe(4);
  });

  it('does without vectors that are cut short or spoilt', async () => {
    const {settings, texts} = await fakeServer(good);
    const made = homeWith({embeddings: settings});
    await made.run('search_files', {query: 'cat'});
    await embeddingDone(made.home);
    const folder = join(made.home, '.agentdir/search');
    const path = join(folder, readdirSync(folder).find(name => name.startsWith('vectors-')) ?? '');
    const bytes = readFileSync(path);
    bytes[bytes.length - 10] = (bytes.at(-10) ?? 0) ^ 1;
    writeFileSync(path, bytes);
    appendFileSync(path, 'half a record');
    forgetVectors(made.home);
    const before = texts().length;
    expect(noteOf(await made.run('search_files', {query: 'cat'}))).toMatch(/1 of 3 passages/);
    await embeddingDone(made.home);
    expect(texts().length).toBe(before + 1);
    forgetVectors(made.home);
    expect(noteOf(await made.run('search_files', {query: 'cat'}))).toBeUndefined();
  });

  it('sends no secrets', async () => {
    const {settings, texts} = await fakeServer(good);
    const secret = 'correct-horse-battery-staple-9137';
    const redact = makeRedactor([{name: 'KEY', value: secret, named: true}]);
    const made = homeWith({embeddings: settings}, {redact});
    writeFileSync(join(made.workspace, 'notes.md'), `# ${secret}\n\nThe key is ${secret}.\n`);
    await made.run('search_files', {query: `cat ${secret}`});
    await embeddingDone(made.home);
    expect(texts().length).toBe(5);
    expect(texts().join()).not.toContain('horse');
  });

  it.each<[string, Reply, RegExp]>([
    ['fails', (_, response) => reply(response, 503, {error: 'busy'}), /it answered 503/],
    ['talks nonsense', (_, response) => response.end('<html>'), /not JSON/],
    ['gives too few', (_, response) => reply(response, 200, {data: []}), /0 vectors for 1/],
    ['gives no numbers', (_, response) => reply(response, 200, {data: [{embedding: ['x']}]}), /not a vector/],
    ['hangs up', (_, response) => response.destroy(), /hang up|ECONNRESET/],
  ])('goes by words alone if the server %s, and does not ask again at once', async (_, answer, why) => {
    const {settings, asked} = await fakeServer(answer);
    const made = homeWith({embeddings: settings});
    const found = await made.run('search_files', {query: 'kitten'});
    expect(paths(found)).toEqual(['cats.md']);
    expect(noteOf(found)).toMatch(/by words alone/);
    expect(noteOf(found)).toMatch(why);
    expect(paths(await made.run('search_files', {query: 'engine'}))).toEqual(['cars.md']);
    expect(asked.length).toBe(1);
  });

  it('leaves out a passage that the server does not take, and all others have vectors', async () => {
    const picky: Reply = (asked, response) =>
      asked.input.some(text => text.includes('engine'))
        ? reply(response, 400, {error: 'too long'})
        : good(asked, response);
    const {settings} = await fakeServer(picky);
    const made = homeWith({embeddings: settings});
    await made.run('search_files', {query: 'cat'});
    await embeddingDone(made.home);
    const found = await made.run('search_files', {query: 'cat'});
    expect(paths(found)[0]).toBe('cats.md');
    expect(noteOf(found)).toBeUndefined();
  });

  it('begins anew when vectors get another length', async () => {
    const {settings, state} = await fakeServer(good);
    const made = homeWith({embeddings: settings});
    await made.run('search_files', {query: 'cat'});
    await embeddingDone(made.home);
    state.answer = ({input}, response) =>
      reply(response, 200, {data: input.map((text, index) => ({index, embedding: [...vectorOf(text), 0]}))});
    mkdirSync(join(made.workspace, 'more'));
    writeFileSync(join(made.workspace, 'more/dogs.md'), 'A dog.');
    // The vector of the question is remembered, so that another one is asked.
    for (const query of ['a cat', 'the cat']) {
      await made.run('search_files', {query});
      await embeddingDone(made.home);
    }
    const found = await made.run('search_files', {query: 'one cat'});
    expect(paths(found)[0]).toBe('cats.md');
    expect(noteOf(found)).toBeUndefined();
  });

  it('begins anew when only the question gets a vector of another length, and says so', async () => {
    const {settings, state} = await fakeServer(good);
    const made = homeWith({embeddings: settings});
    await made.run('search_files', {query: 'cat'});
    await embeddingDone(made.home);
    state.answer = ({input}, response) =>
      reply(response, 200, {data: input.map((text, index) => ({index, embedding: [...vectorOf(text), 0]}))});
    expect(noteOf(await made.run('search_files', {query: 'a pussycat'}))).toMatch(/3 of 3 passages have no embedding/);
    await embeddingDone(made.home);
    // The vector of the first question is remembered, and is not compared with others.
    for (const query of ['a pussycat', 'cat', 'my pussycat']) {
      const found = await made.run('search_files', {query});
      expect([paths(found)[0], noteOf(found)]).toEqual(['cats.md', undefined]);
    }
    forgetVectors(made.home);
    expect(paths(await made.run('search_files', {query: 'his pussycat'}))[0]).toBe('cats.md');
  });

  it('of a question that comes late is there for the next search', async () => {
    const {settings, state, asked} = await fakeServer(good);
    const made = homeWith({embeddings: settings});
    await made.run('search_files', {query: 'cat'});
    await embeddingDone(made.home);
    const late: (() => void)[] = [];
    state.answer = (body, response) => void late.push(() => good(body, response));
    expect(noteOf(await made.run('search_files', {query: 'a slow cat'}))).toMatch(/did not answer in time/);
    const before = asked.length;
    for (const answer of late) answer();
    const found = await until(
      () => made.run('search_files', {query: 'a slow cat'}),
      each => noteOf(each) === undefined,
    );
    expect(paths(found)[0]).toBe('cats.md');
    expect(asked).toHaveLength(before);
  });

  it('says that a key is missing', async () => {
    const {settings, asked} = await fakeServer(good);
    const made = homeWith({embeddings: {...settings, api_key_env: 'SEARCH_TEST_MISSING'}});
    expect(noteOf(await made.run('search_files', {query: 'kitten'}))).toMatch(/SEARCH_TEST_MISSING is not set/);
    expect(asked).toEqual([]);
  });

  it.runIf(thorough)('works with the model on this machine', async () => {
    const made = homeWith({embeddings: 'local'});
    await made.run('search_files', {query: 'a young cat'});
    await embeddingDone(made.home);
    // A busy machine may take longer for a question than a search waits.
    const found = await until(
      () => made.run('search_files', {query: 'automobile'}),
      each => noteOf(each) === undefined,
    );
    expect(paths(found)[0]).toBe('cars.md');
  });
});
