import {describe, expect, it} from 'vitest';
import {chooseModel, isListedModel} from '../src/formats/model-choice.ts';
import {parseSettings} from '../src/formats/settings.ts';
import {modelRows} from '../src/surfaces/actions/models/model-rows.ts';

const settings = (text: string) => {
  const {value, problems} = parseSettings(text);
  expect(problems.filter(({code}) => code !== 'NO_EFFECT')).toEqual([]);
  return value ?? {};
};

const two = settings(`
models:
  - {id: claude-sonnet-4.5, nickname: sonnet, base_url: "https://one.example/v1", api_key_env: ONE_KEY,
     context_tokens: 200000, price: {input: 3, output: 15}, timeout_seconds: 30}
  - {id: gpt-5, api_key_env: TWO_KEY}
  - {id: llama, base_url: "http://127.0.0.1:11434/v1"}
`);

describe('which model serves', () => {
  it('one that is listed, by id or nickname', () => {
    const expected = {
      kind: 'openai',
      id: 'claude-sonnet-4.5',
      baseURL: 'https://one.example/v1',
      apiKey: 'secret',
      keyVariable: 'ONE_KEY',
      price: {input: 3, output: 15},
      contextTokens: 200000,
      silenceMs: 30_000,
    };
    expect(chooseModel('sonnet', two, {ONE_KEY: 'secret'})).toEqual(expected);
    expect(chooseModel('claude-sonnet-4.5', two, {ONE_KEY: ' secret\n'})).toEqual(expected);
    expect(chooseModel('default', {...two, default_model: 'sonnet'}, {ONE_KEY: 'secret'})).toEqual(expected);
  });

  it('one that is listed, and whose key is missing, is never replaced by another', () => {
    for (const env of [{}, {ONE_KEY: ''}, {ONE_KEY: ' ', OPENAI_API_KEY: 'x', TWO_KEY: 'y'}]) {
      const choice = chooseModel('sonnet', two, env);
      expect(choice).toEqual({
        failed: expect.stringContaining('ONE_KEY'),
        hint: expect.stringContaining('set ONE_KEY'),
      });
    }
  });

  it('auto: the first that is listed and has its key', () => {
    expect(chooseModel(undefined, two, {TWO_KEY: 'b', ONE_KEY: 'a'})).toMatchObject({
      id: 'claude-sonnet-4.5',
      apiKey: 'a',
    });
    expect(chooseModel('auto', two, {TWO_KEY: 'b', OPENAI_API_KEY: 'c'})).toMatchObject({id: 'gpt-5', apiKey: 'b'});
    expect(chooseModel('default', {...two, default_model: 'default'}, {})).toMatchObject({
      id: 'llama',
      apiKey: undefined,
    });
  });

  it('auto: else the server of the environment', () => {
    const expected = {kind: 'openai', keyVariable: 'OPENAI_API_KEY', silenceMs: 120_000, price: undefined};
    expect(chooseModel('auto', {}, {OPENAI_API_KEY: 'k'})).toMatchObject({
      ...expected,
      id: undefined,
      baseURL: undefined,
    });
    expect(chooseModel('auto', {}, {OPENAI_BASE_URL: 'http://x/v1', OPENAI_MODEL: 'm'})).toMatchObject({
      ...expected,
      id: 'm',
      baseURL: 'http://x/v1',
      apiKey: undefined,
    });
  });

  it.each([
    ['ANTHROPIC_API_KEY', {id: 'claude-sonnet-4-5', baseURL: 'https://api.anthropic.com/v1'}],
    ['OPENROUTER_API_KEY', {id: 'openrouter/auto', baseURL: 'https://openrouter.ai/api/v1'}],
    ['GEMINI_API_KEY', {baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai'}],
    ['GROQ_API_KEY', {baseURL: 'https://api.groq.com/openai/v1'}],
    ['MISTRAL_API_KEY', {baseURL: 'https://api.mistral.ai/v1'}],
  ])('auto: else the first provider whose key is set: %s', (keyVariable, expected) => {
    expect(chooseModel('auto', {}, {[keyVariable]: 'k'})).toMatchObject({
      kind: 'openai',
      apiKey: 'k',
      keyVariable,
      price: undefined,
      ...expected,
    });
    expect(chooseModel('auto', {}, {[keyVariable]: 'k', OPENAI_API_KEY: 'o'})).toMatchObject({apiKey: 'o'});
    expect(chooseModel('auto', {}, {[keyVariable]: 'k', OPENAI_BASE_URL: 'http://x/v1'})).toMatchObject({
      baseURL: 'http://x/v1',
      apiKey: undefined,
    });
    const other = keyVariable.replace('_API_KEY', '_MODEL');
    expect(chooseModel('auto', {}, {[keyVariable]: 'k', [other]: 'mine'})).toMatchObject({id: 'mine'});
  });

  it('a local Ollama, without a key', () => {
    const env = {OLLAMA_MODEL: 'llama3', OLLAMA_HOST: '0.0.0.0'};
    expect(chooseModel('auto', {}, {...env, OPENAI_API_KEY: ' '})).toMatchObject({
      ...{id: 'llama3', baseURL: 'http://127.0.0.1:11434/v1', apiKey: undefined, keyVariable: undefined},
    });
    expect(chooseModel('ollama/qwen3:8b', {}, {OLLAMA_HOST: 'https://box:8080/'})).toMatchObject({
      ...{id: 'qwen3:8b', baseURL: 'https://box:8080/v1'},
    });
  });

  it('provider/model: a model of a built-in provider, with its own key only', () => {
    expect(chooseModel('anthropic/claude-opus-4-1', {}, {ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o'})).toMatchObject({
      ...{id: 'claude-opus-4-1', baseURL: 'https://api.anthropic.com/v1', apiKey: 'a'},
    });
    expect(chooseModel('openai/gpt-9', {}, {OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://x/v1'})).toMatchObject({
      ...{id: 'gpt-9', baseURL: 'http://x/v1', apiKey: 'o'},
    });
    // A server of its own with ids of this form, such as OpenRouter.
    const gateway = {OPENAI_BASE_URL: 'http://x/v1', OPENAI_API_KEY: 'o'};
    expect(chooseModel('openai/mistral/large', {}, gateway)).toMatchObject({
      id: 'mistral/large',
      baseURL: 'http://x/v1',
    });
    expect(chooseModel('meta/llama', {}, gateway)).toMatchObject({id: 'meta/llama', baseURL: 'http://x/v1'});
    for (const env of [gateway, {GROQ_API_KEY: 'g'}, {}])
      expect(chooseModel('mistral/large', {}, env)).toMatchObject({
        failed: 'the model "mistral/large" has no key: the environment variable MISTRAL_API_KEY is not set',
        hint: expect.stringContaining('set MISTRAL_API_KEY'),
      });
  });

  it('models: adds to what the table of providers knows, and overrides it', () => {
    const listed = settings(`models:
  - {id: anthropic/claude-x, nickname: clever, price: {input: 3, output: 15}}
  - {id: claude-y, api_env_var: ANTHROPIC_API_KEY}
  - {id: gpt-5, price: {input: 1, output: 2}}
  - {id: ollama/qwen, base_url: "http://box/v1"}
`);
    const env = {ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://x/v1'};
    const anthropic = {baseURL: 'https://api.anthropic.com/v1', apiKey: 'a', keyVariable: 'ANTHROPIC_API_KEY'};
    for (const name of ['clever', 'anthropic/claude-x'])
      expect(chooseModel(name, listed, env)).toMatchObject({
        ...anthropic,
        id: 'claude-x',
        price: {input: 3, output: 15},
      });
    // The key of a provider goes to that provider.
    expect(chooseModel('claude-y', listed, env)).toMatchObject({...anthropic, id: 'claude-y'});
    expect(chooseModel('anthropic/claude-y', listed, env)).toMatchObject({...anthropic, id: 'claude-y'});
    for (const name of ['gpt-5', 'openai/gpt-5'])
      expect(chooseModel(name, listed, env)).toMatchObject({
        ...{id: 'gpt-5', baseURL: 'http://x/v1', apiKey: 'o', price: {input: 1, output: 2}},
      });
    // With a server of its own, the id is sent as it is written.
    expect(chooseModel('ollama/qwen', listed, env)).toMatchObject({id: 'ollama/qwen', baseURL: 'http://box/v1'});
    expect(chooseModel('auto', listed, {OPENAI_API_KEY: 'o'})).toMatchObject({id: 'gpt-5', price: {input: 1}});
    for (const name of ['clever', 'anthropic/claude-y', 'openai/gpt-5']) expect(isListedModel(name, listed)).toBe(true);
    for (const name of ['groq/gpt-5', 'anthropic/gpt-5', 'openai/claude-y', 'auto'])
      expect(isListedModel(name, listed)).toBe(false);
  });

  it('auto: else the playbook, which says why', () => {
    const choice = chooseModel('auto', {models: (two.models ?? []).slice(0, 2)}, {OPENAI_MODEL: 'm'});
    expect(choice).toMatchObject({kind: 'playbook', keys: expect.arrayContaining(['ONE_KEY', 'TWO_KEY'])});
    expect(chooseModel(undefined, {models: null}, {})).toEqual({
      kind: 'playbook',
      why: 'no API key is set, and no local Ollama was found',
      keys: [
        'OPENAI_API_KEY',
        'ANTHROPIC_API_KEY',
        'OPENROUTER_API_KEY',
        'GEMINI_API_KEY',
        'GROQ_API_KEY',
        'MISTRAL_API_KEY',
      ],
    });
  });

  it('the playbook, if it is asked for', () => {
    expect(chooseModel('playbook', two, {ONE_KEY: 'a'})).toMatchObject({kind: 'playbook'});
    expect(chooseModel(undefined, {default_model: 'playbook'}, {OPENAI_API_KEY: 'a'})).toMatchObject({
      kind: 'playbook',
    });
  });

  it('one that is not listed goes to the server of the environment', () => {
    expect(chooseModel('gpt-9', two, {OPENAI_API_KEY: 'k'})).toMatchObject({
      id: 'gpt-9',
      baseURL: undefined,
      apiKey: 'k',
    });
    expect(chooseModel('gpt-9', two, {})).toMatchObject({failed: expect.stringContaining('not listed')});
    expect(chooseModel('sonet', two, {})).toMatchObject({hint: 'did you mean "sonnet"?'});
    expect(chooseModel('constructor', {}, {})).toMatchObject({failed: expect.stringContaining('constructor')});
  });

  it('agentdir models: says of each whether it can be asked, and why not', () => {
    const listed = settings(`models:
  - {id: anthropic/claude-x, nickname: clever, price: {input: 3, output: 15}}
  - {id: lab, base_url: "http://lab/v1", api_key_env: LAB_KEY}
`);
    const rows = modelRows(listed, {ANTHROPIC_API_KEY: 'a', GROQ_API_KEY: 'g'});
    const usable = rows.filter(row => row.usable).map(({name}) => name);
    expect(usable).toEqual([
      'anthropic/claude-x',
      'anthropic/claude-sonnet-4-5',
      'groq/llama-3.3-70b-versatile',
      'playbook',
    ]);
    expect(rows.filter(row => row.is_default).map(({name}) => name)).toEqual(['anthropic/claude-x']);
    expect(rows[0]).toMatchObject({provider: 'anthropic', nickname: 'clever', price: {input: 3, output: 15}});
    expect(rows.find(({name}) => name === 'lab')?.why).toMatch(/LAB_KEY is not set; set LAB_KEY/);
    expect(rows.find(({provider}) => provider === 'mistral')?.why).toMatch(/MISTRAL_API_KEY is not set/);
    expect(rows.find(({provider}) => provider === 'ollama')?.why).toMatch(/no Ollama .*127\.0\.0\.1:11434/);
    const local = modelRows({}, {OLLAMA_MODEL: 'qwen3:8b'});
    expect(local.find(row => row.is_default)).toMatchObject({
      name: 'ollama/qwen3:8b',
      usable: true,
      key_variable: null,
    });
    expect(modelRows({}, {}).find(row => row.is_default)).toMatchObject({name: 'playbook'});
    expect(modelRows({}, {OPENAI_BASE_URL: 'http://x/v1'}).find(row => row.is_default)).toMatchObject({
      ...{name: 'openai/MODEL', server: 'http://x/v1', usable: true},
    });
  });

  it("a server that a file names never gets OpenAI's key", () => {
    expect(chooseModel('llama', two, {OPENAI_API_KEY: 'k'})).toMatchObject({apiKey: undefined, keyVariable: undefined});
  });
});
