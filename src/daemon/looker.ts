import type {Daemon} from '../agents/state/parts.ts';
import type {LookOutcome} from '../loop/queue.ts';
import type {recognizeUnchanged} from '../loop/recognize.ts';
import type {announce} from './announce.ts';

/**
 * Looks at files. Loads the parsers and reconcilers with the first look, so that a start that finds no changes is ready in a fraction of
 * the time.
 */
export class Looker {
  readonly #daemon: () => Daemon;
  #loaded: Promise<(path: string) => Promise<LookOutcome>> | undefined;
  #recognize: typeof recognizeUnchanged = () => false;
  #announce: typeof announce | undefined;

  /** `daemon` is first called at the first look. */
  constructor(daemon: () => Daemon) {
    this.#daemon = daemon;
  }

  /** Start to load the modules for a start without a checkpoint, while git runs. */
  prepare(): void {
    void import('../loop/look.ts');
    void import('./reconcilers.ts');
  }

  /** Whether the file needs no look. */
  knows(path: string): boolean {
    return this.#recognize(this.#daemon().files, path);
  }

  /** Report the model and the sandbox. */
  async announce(): Promise<void> {
    await this.load();
    await this.#announce?.(this.#daemon());
  }

  /** Check changes made while no daemon ran: a command of the last daemon may have made them. */
  async suspectEarlier(): Promise<void> {
    const daemon = this.#daemon();
    const [{suspectEarlierChanges}, {committedSince}] = await Promise.all([
      import('../agents/approvals/protected-files.ts'),
      import('../agents/approvals/suspect-commits.ts'),
    ]);
    await suspectEarlierChanges(daemon, (started, session) => committedSince(daemon.files, started, session));
  }

  /** Load what looks at a file; resolves to the function that does. */
  load(): Promise<(path: string) => Promise<LookOutcome>> {
    this.#loaded ??= this.#load(this.#daemon());
    return this.#loaded;
  }

  async #load(daemon: Daemon): Promise<(path: string) => Promise<LookOutcome>> {
    const [
      {look},
      {makeReconcilers},
      {makeGuard},
      {servicesFor},
      {builtInTools},
      {inProcessRunner},
      {announce},
      {recognizeUnchanged},
      {homeName},
      {contextServices},
      {delegationServices},
    ] = await Promise.all([
      import('../loop/look.ts'),
      import('./reconcilers.ts'),
      import('../agents/approvals/protected-files.ts'),
      import('../agents/calls/services.ts'),
      import('../effects/tools/prepare-call.ts'),
      import('../runners/in-process.ts'),
      import('./announce.ts'),
      import('../loop/recognize.ts'),
      import('../loop/file-snapshot.ts'),
      import('../workflows/services.ts'),
      import('../agents/delegation/services.ts'),
    ]);
    daemon.files.name = homeName(daemon.files.disk);
    daemon.files.kinds.reconcilers.add(makeReconcilers(daemon));
    daemon.files.kinds.guard = makeGuard(daemon);
    const {effects, reports} = daemon;
    const {world, tools, sandbox} = effects;
    if (!world.tools) tools.add(builtInTools);
    effects.runner = inProcessRunner({tools, sandbox, redact: reports.redact, env: world.environment}, world.models);
    effects.services = (caller, call, signal) => ({
      ...servicesFor(daemon, caller, call, signal),
      ...contextServices(daemon, caller, call),
      ...delegationServices(daemon, caller, call),
    });
    this.#recognize = recognizeUnchanged;
    this.#announce = announce;
    return path => look(daemon, path);
  }
}
