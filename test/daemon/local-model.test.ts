import {createServer, type IncomingHttpHeaders} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, it, onTestFinished} from 'vitest';
import {agentdir, newHome, until} from '../cli/run.ts';
import {serve} from './serve.ts';

/** A server that answers as Ollama does, as far as it is asked. */
async function fakeOllama(models: readonly string[]) {
  const asked: {url: string; model: unknown; headers: IncomingHttpHeaders}[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', chunk => {
      body += chunk;
    });
    request.on('end', () => {
      if (request.url === '/api/tags') {
        response.end(JSON.stringify({models: models.map(name => ({name}))}));
        return;
      }
      const {model} = JSON.parse(body || '{}') as {model?: unknown};
      asked.push({url: request.url ?? '', model, headers: request.headers});
      const usage = {prompt_tokens: 1_500, completion_tokens: 500, total_tokens: 2_000};
      const delta = {role: 'assistant', content: 'Hello from here.'};
      response.setHeader('content-type', 'text/event-stream');
      response.end(
        [
          {id: 'x', object: 'chat.completion.chunk', model, choices: [{index: 0, delta, finish_reason: 'stop'}]},
          {id: 'x', object: 'chat.completion.chunk', model, choices: [], usage},
        ]
          .map(event => `data: ${JSON.stringify(event)}\n\n`)
          .join('')
          .concat('data: [DONE]\n\n'),
      );
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return {asked, host: `127.0.0.1:${(server.address() as AddressInfo).port}`};
}

const modelSaid = async (home: string, env: NodeJS.ProcessEnv) => {
  const {events} = await serve(home, env);
  const seen = await until(
    () => events.find(({event}) => event === 'model'),
    event => event !== undefined,
  );
  return (seen as unknown as {model: string}).model;
};

it('a local Ollama answers where no key is set; what that costs is unknown, not nothing', async () => {
  const {asked, host} = await fakeOllama(['llama3.2:1b', 'other']);
  const home = await newHome();
  expect(await modelSaid(home, {OLLAMA_HOST: host})).toBe(`llama3.2:1b of ${host} (cost unknown)`);
  const {stdout} = await agentdir(home, ['send', 'hello', '--wait', '--json']);
  const answer = JSON.parse(stdout) as {session: string};
  expect(answer).toMatchObject({
    answer: 'Hello from here.',
    usage: {input_tokens: 1_500, output_tokens: 500},
  });
  expect(stdout).not.toContain('cost_usd');
  expect(asked).toMatchObject([{url: '/v1/chat/completions', model: 'llama3.2:1b'}]);
  expect(asked[0]?.headers.authorization).toBeUndefined();
  const log = await until(
    async () => (await agentdir(home, ['log'])).stdout,
    text => text.includes('state spend'),
  );
  expect(log).toMatch(/state spend: \S+: 1 turn, 2,000 tokens, cost unknown/);
  expect((await agentdir(home, ['show', answer.session])).stdout).toContain('500 out, cost unknown');
});

it('an Ollama without a model is left alone', async () => {
  const {host} = await fakeOllama([]);
  expect(await modelSaid(await newHome(), {OLLAMA_HOST: host})).toMatch(/^playbook .*no local Ollama was found$/);
});
