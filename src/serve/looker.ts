import type {Outcome} from '../queue.ts';
import type {announce} from './announce.ts';
import type {look} from './look.ts';
import type {recognize} from './recognize.ts';
import type {Serving} from './serving.ts';

/**
 * Looks at files. All that reads them is loaded with the first look: a start that finds nothing new is ready before
 * that, in a fraction of the time.
 */
export class Looker {
  #loaded: Promise<typeof look> | undefined;
  #recognize: typeof recognize = () => false;
  #announce: typeof announce | undefined;

  /** Load what a start without a cache will need, while git is being asked. */
  prepare(): void {
    void import('./look.ts');
  }

  /** Whether the file is known already without a look. */
  knows(serving: Serving, path: string): boolean {
    return this.#recognize(serving, path);
  }

  async look(serving: Serving, path: string): Promise<Outcome> {
    return (await this.load(serving))(serving, path);
  }

  /** Say which model answers. */
  async announce(serving: Serving): Promise<void> {
    await this.load(serving);
    await this.#announce?.(serving);
  }

  /** What changed while no daemon ran may be the doing of a command of the last one. */
  async suspectEarlier(serving: Serving): Promise<void> {
    const [{suspectEarlier}, {committedSince}] = await Promise.all([
      import('./approvals/void.ts'),
      import('./approvals/suspect-commits.ts'),
    ]);
    await suspectEarlier(serving, session => committedSince(serving, session));
  }

  load(serving: Serving): Promise<typeof look> {
    this.#loaded ??= this.#load(serving);
    return this.#loaded;
  }

  async #load(serving: Serving): Promise<typeof look> {
    const [{look}, {announce}, {recognize}, {homeName}] = await Promise.all([
      import('./look.ts'),
      import('./announce.ts'),
      import('./recognize.ts'),
      import('./seen.ts'),
    ]);
    serving.name = homeName(serving.disk);
    this.#recognize = recognize;
    this.#announce = announce;
    return look;
  }
}
