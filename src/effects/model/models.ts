import type {ModelChoice} from '../../formats/model-choice.ts';
import type {Playbook} from '../../formats/playbook.ts';
import type {Answer, ModelRequest} from './answer.ts';
import {askOpenAI} from './openai.ts';
import {askPlaybook} from './playbook.ts';
import {baseUrlOf, type Fetch, Server} from './server.ts';

/** Dispatches requests to the playbook or to model servers, and keeps the connections. */
export class Models {
  readonly #fetch: Fetch;
  readonly #servers = new Map<string, Server>();

  constructor({fetch = globalThis.fetch}: {fetch?: Fetch} = {}) {
    this.#fetch = fetch;
  }

  /** Never throws. */
  async ask(choice: ModelChoice, request: ModelRequest, playbooks: readonly Playbook[]): Promise<Answer> {
    if ('failed' in choice) return {failed: choice.failed, hint: choice.hint};
    try {
      if (choice.kind === 'playbook') return askPlaybook(request, playbooks);
      const key = JSON.stringify([baseUrlOf(choice), choice.apiKey]);
      let server = this.#servers.get(key);
      if (!server) {
        server = new Server(choice, this.#fetch);
        this.#servers.set(key, server);
      }
      return await askOpenAI(server, choice, request);
    } catch (error) {
      return {
        failed: `the model could not be called: ${error instanceof Error ? error.message : String(error)}`,
        hint: 'this is a mistake in Agentdir; please report it. Set "status: active" in the session to try again',
      };
    }
  }
}
