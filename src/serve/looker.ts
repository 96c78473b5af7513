import type {Outcome} from '../queue.ts';
import type {look} from './look.ts';
import type {Serving} from './serving.ts';

/**
 * Looks at files. All that reads them is loaded with the first look: a start that finds nothing new is ready before
 * that, in a fraction of the time.
 */
export class Looker {
  #loaded: Promise<typeof look> | undefined;

  async look(serving: Serving, path: string): Promise<Outcome> {
    return (await this.load(serving))(serving, path);
  }

  load(serving: Serving): Promise<typeof look> {
    this.#loaded ??= load(serving);
    return this.#loaded;
  }
}

async function load(serving: Serving): Promise<typeof look> {
  const [{look}, {homeName}] = await Promise.all([import('./look.ts'), import('./seen.ts')]);
  serving.name = homeName(serving.home);
  return look;
}
