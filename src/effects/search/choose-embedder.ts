import type {Settings} from '../../formats/settings.ts';
import {localEmbedder} from './embed-local.ts';
import {serverEmbedder} from './embed-server.ts';
import type {Embedder, EmbedFailure} from './embedder.ts';

/** `search: embeddings:` of agentdir.yaml. */
type Embeddings = NonNullable<NonNullable<Settings['search']>['embeddings']>;

const made = new Map<string, Embedder>();

/** The embedder for these settings, or why there is none. Undefined: embeddings are off. */
export function embedderOf(
  wanted: Embeddings | undefined,
  env: NodeJS.ProcessEnv,
): Embedder | EmbedFailure | undefined {
  if (wanted === undefined || wanted === 'off') return undefined;
  const variable = wanted === 'local' ? undefined : wanted.api_key_env;
  const apiKey = variable === undefined ? undefined : env[variable]?.trim();
  if (variable !== undefined && !apiKey) return {failed: `the environment variable ${variable} is not set`};
  const key = JSON.stringify([wanted, apiKey]);
  let one = made.get(key);
  if (!one) {
    one = wanted === 'local' ? localEmbedder() : serverEmbedder(wanted.base_url, wanted.model, apiKey);
    made.set(key, one);
  }
  return one;
}
