import {get} from 'node:http';
import {isMap} from '../../formats/common/values.ts';
import {ollamaAddress, providers} from '../../formats/providers.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** It is on this machine: it answers at once or is not there. */
const WAIT_MS = 500;
const MOST_BYTES = 1024 * 1024;

/**
 * The environment with OLLAMA_HOST and OLLAMA_MODEL of a local Ollama that has a model. Not looked for if a provider is configured
 * already, or if OLLAMA_HOST is empty. Must not throw.
 */
export async function withLocalOllama<E extends Environment>(env: E): Promise<E> {
  const host = env.OLLAMA_HOST ?? '127.0.0.1:11434';
  const isConfigured = env.OPENAI_BASE_URL || providers.some(({variable}) => env[variable]);
  if (isConfigured || host === '') return env;
  const model = await firstModel(ollamaAddress(host));
  return model === undefined ? env : {...env, OLLAMA_HOST: host, OLLAMA_MODEL: model};
}

/** Undefined: no Ollama answers there, or it has no model. */
async function firstModel(address: string): Promise<string | undefined> {
  if (!address.startsWith('http:') || !URL.canParse(address)) return undefined;
  try {
    const tags: unknown = JSON.parse(await textAt(`${address}/api/tags`));
    return firstName(isMap(tags) ? tags.models : undefined, 'name');
  } catch {
    // Other servers on its port that speak as it does, such as a proxy, may know only the API that is used.
    return await firstOpenAI(address);
  }
}

async function firstOpenAI(address: string): Promise<string | undefined> {
  try {
    const list: unknown = JSON.parse(await textAt(`${address}/v1/models`));
    return firstName(isMap(list) ? list.data : undefined, 'id');
  } catch {
    return undefined;
  }
}

function firstName(models: unknown, key: 'name' | 'id'): string | undefined {
  const names = Array.isArray(models) ? models.map((model: unknown) => (isMap(model) ? model[key] : undefined)) : [];
  return names.find(name => typeof name === 'string');
}

/** `fetch` takes longer to load than this takes. */
function textAt(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, {signal: AbortSignal.timeout(WAIT_MS), agent: false}, response => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MOST_BYTES) request.destroy(new Error('too long'));
      });
      response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error('no Ollama'))));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}
