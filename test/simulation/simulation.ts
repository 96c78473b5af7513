import type {World} from '../../src/agents/world/world.ts';
import {serve} from '../../src/daemon/daemon.ts';
import {UserError} from '../../src/formats/common/errors.ts';
import type {DaemonEvent} from '../../src/formats/daemon-event.ts';
import type {Disk} from '../../src/home/disk/disk.ts';
import type {HomeJournal} from '../../src/home/home-git.ts';
import {type AgentWorld, noEffects, ScriptedModel, scriptedTools} from './agents.ts';
import {processesOf, SimulatedDisk} from './disk.ts';
import {SimulatedGit} from './git.ts';
import {violations} from './invariants.ts';
import {Person} from './person.ts';
import {type Death, Killed, SimulatedProcess} from './process.ts';
import {SeededRandom} from './random.ts';
import {describeStep, type Step} from './steps.ts';
import {SimulatedTime} from './time.ts';

/** Something broken on purpose, to show that a simulation finds it. */
export interface Sabotage {
  disk?: (disk: Disk) => Disk;
  journal?: (journal: HomeJournal, later: (ms: number, work: () => void) => void) => HomeJournal;
}

export interface Outcome {
  /** What must never be, and was; empty if all went well. */
  violations: string[];
  /** What happened, a line each. */
  log: string[];
  /** How many changes daemons made to the world. */
  steps: number;
}

const HOME: Readonly<Record<string, string>> = {
  'agentdir.yaml':
    'format: 1\nname: sim\ndefault_agent: worker\ninbox: {routes: [{files: "mail.jsonl", to: helper}]}\napprovals: {expire_after: null}\n',
  'allowlist.yaml': 'version: 1\n',
  'templates/worker.agent.yaml':
    'id: worker\ntype: worker\nmodel: scripted\nsystem_prompt: You work.\ncapabilities: [list_agents, execute_command, send_message, create_task, update_task]\n',
  'templates/helper.agent.yaml':
    'id: helper\ntype: helper\nmodel: scripted\nsystem_prompt: You help.\ncapabilities: [list_agents, update_task]\n',
  'tasks/approvals.task.md': '# Approvals\n\n## TODO\n',
  'tasks/work.task.md': '# Work\n\n',
  'memory/notes.md': '# Notes\n\n',
};

const DELEGATING: Readonly<Record<string, string>> = {
  ...HOME,
  'allowlist.yaml': 'version: 1\ntools: {task: allow}\n',
  'templates/worker.agent.yaml': `${HOME['templates/worker.agent.yaml']?.replace('[list_agents', '[task, list_agents')}`,
};

const START = Date.parse('2026-03-02T08:00:00.000Z');
/** After the last step everything that is due is done within this. */
const SETTLE_MS = 25_000;
const MOST_RESTARTS = 60;

/** One history: a home, its person, its agents, and daemons that come and go. */
export class Simulation {
  readonly #random: SeededRandom;
  readonly #time: SimulatedTime;
  readonly #disk: SimulatedDisk;
  readonly #git: SimulatedGit;
  readonly #person: Person;
  readonly #personDisk: Disk;
  readonly #agents: AgentWorld = {runs: new Map(), count: 0};
  readonly #sabotage: Sabotage;
  readonly #processes: SimulatedProcess[] = [];
  readonly #log: string[] = [];
  readonly #found: string[] = [];
  #boot = 1;
  #daemon: {process: SimulatedProcess; stop: () => void} | undefined;
  /** A daemon is to be started by itself when the last one has gone. */
  #restartAfter: number | undefined = 0;

  constructor(seed: number, sabotage: Sabotage = {}) {
    const stream = (n: number) => new SeededRandom(seed * 16 + n);
    this.#random = stream(1);
    this.#time = new SimulatedTime(stream(2), START);
    this.#disk = new SimulatedDisk(stream(3), this.#time);
    const nobody = new SimulatedProcess({pid: 1, began: '1', boot: 'person', host: 'sim'}, () => {});
    this.#personDisk = this.#disk.seenBy(
      undefined,
      this.#time.clockOf(nobody),
      processesOf(nobody.holder, () => []),
    );
    this.#git = new SimulatedGit(stream(4), this.#time, this.#personDisk);
    this.#person = new Person(this.#personDisk, this.#git, this.#time);
    this.#sabotage = sabotage;
    this.#time.onError = error => this.#unhandled(error);
  }

  async run(steps: readonly Step[]): Promise<Outcome> {
    const onRejection = (error: unknown) => {
      if (!(error instanceof Killed)) this.#unhandled(error as Error);
    };
    process.on('unhandledRejection', onRejection);
    try {
      return await this.#run(steps);
    } finally {
      process.off('unhandledRejection', onRejection);
    }
  }

  async #run(steps: readonly Step[]): Promise<Outcome> {
    const delegates = steps.some(step => step.do === 'say' && step.wish === 'delegate');
    for (const [path, text] of Object.entries(delegates ? DELEGATING : HOME)) {
      if (path.includes('/')) this.#personDisk.makeDirectory(path.slice(0, path.lastIndexOf('/')));
      this.#personDisk.write(path, text);
    }
    this.#git.commitAll('begin', true);
    this.#start();
    await this.#time.pass(300);
    for (const step of steps) {
      this.#do(step);
      await this.#time.pass(step.wait);
    }
    await this.#settle();
    const {runs} = this.#agents;
    const {written, removed, decisions, approved} = this.#person;
    const files = this.#disk.files();
    this.#found.push(...violations({files, git: this.#git, runs, written, removed, decisions, approved}));
    const steps_ = this.#processes.reduce((sum, process) => sum + process.steps, 0);
    return {violations: this.#found, log: this.#log, steps: steps_};
  }

  /** Nobody caught it: a real daemon would end. */
  #unhandled(error: Error): void {
    this.#found.push(`nobody caught: ${error.stack?.split('\n').slice(0, 4).join(' | ')}`);
  }

  #note(text: string): void {
    this.#log.push(`${(this.#time.elapsed / 1000).toFixed(3).padStart(8)}  ${text}`);
  }

  #do(step: Step): void {
    const {disk, git} = {disk: this.#disk.faults, git: this.#git.faults};
    let came = '';
    switch (step.do) {
      case 'die':
        this.#restartAfter = step.down;
        this.#daemon?.process.dieAfter(step.after, step.how);
        break;
      case 'stop':
        this.#restartAfter = step.down;
        this.#daemon?.stop();
        break;
      case 'disk full':
        disk.isFull = true;
        this.#time.after(step.ms, () => {
          disk.isFull = false;
        });
        break;
      case 'sync fails':
        disk.failingSyncs = 1;
        break;
      case 'lose events':
        disk.lostEvents = 0.7;
        this.#time.after(step.ms, () => {
          disk.lostEvents = 0;
        });
        break;
      case 'publishing stalls':
        git.blockedUntil = this.#time.now + step.ms;
        break;
      case 'rebase':
        git.unfinished = 'a rebase is not finished';
        this.#time.after(step.ms, () => {
          git.unfinished = undefined;
        });
        break;
      default:
        came = this.#person.do(step);
    }
    this.#note(`${describeStep(step)}${came === '' ? '' : ` → ${came}`}`);
  }

  /** No more faults: everything comes to rest, also after one more stop and start. */
  async #settle(): Promise<void> {
    Object.assign(this.#disk.faults, {isFull: false, failingSyncs: 0, lostEvents: 0});
    Object.assign(this.#git.faults, {blockedUntil: 0, unfinished: undefined});
    this.#restartAfter = 0;
    // Whoever is about to die does so now.
    const {process} = this.#daemon ?? {};
    if (process?.isDoomed) process.die('kill');
    this.#note('— settle');
    await this.#time.pass(10_000);
    for (let n = 0; n < 6 && this.#person.decideAll(this.#random) > 0; n++) await this.#time.pass(8_000);
    await this.#time.pass(SETTLE_MS);
    // A model that was busy again and again answers late.
    for (let n = 0; n < 6 && this.#person.decideAll(this.#random) > 0; n++) await this.#time.pass(8_000);
    this.#daemon?.stop();
    await this.#time.pass(15_000);
    await this.#time.pass(SETTLE_MS);
    if (!this.#daemon) this.#found.push('no daemon runs at the end');
  }

  #start(): void {
    if (this.#daemon) return;
    if (this.#processes.length > MOST_RESTARTS) {
      this.#found.push('daemons end again and again');
      return;
    }
    const n = this.#processes.length + 1;
    const process = new SimulatedProcess({pid: 1000 + n, began: `${n}`, boot: `boot-${this.#boot}`, host: 'sim'}, how =>
      this.#died(process, how),
    );
    this.#processes.push(process);
    let stop = () => {};
    const signal = new Promise<string>(resolve => {
      stop = () => resolve('SIGTERM');
    });
    this.#daemon = {process, stop};
    this.#note(`daemon ${process.holder.pid} starts`);
    const world = this.#worldOf(process, signal);
    const report = (event: DaemonEvent) => this.#report(process, event);
    serve({home: world.disk.root, once: false, version: 'simulated', report, world}).then(
      code => this.#ended(process, `exit code ${code}`),
      error => this.#failed(process, error as Error),
    );
  }

  #worldOf(process: SimulatedProcess, signal: Promise<string>): World {
    const clock = this.#time.clockOf(process);
    const processes = processesOf(process.holder, () => this.#processes);
    const seen = this.#disk.seenBy(process, clock, processes);
    const disk = this.#sabotage.disk?.(seen) ?? seen;
    const git = this.#git.openFor(process);
    const {journal: sabotage} = this.#sabotage;
    return {
      disk,
      random: this.#random,
      git: sabotage
        ? {
            ...git,
            openJournal: async earlier =>
              sabotage(await git.openJournal(earlier), (ms, work) => this.#time.after(ms, work, process)),
          }
        : git,
      sandbox: {state: async () => ({state: 'works', version: 'simulated'})},
      models: new ScriptedModel(this.#agents, process, this.#time, this.#random),
      tools: scriptedTools(this.#agents, process, this.#time, this.#random),
      effects: noEffects,
      environment: {OPENAI_BASE_URL: 'http://simulated.invalid', OPENAI_MODEL: 'scripted'},
      notices: async () => [],
      untilStopped: () => ({signal, release: () => {}}),
    };
  }

  #report(process: SimulatedProcess, event: DaemonEvent): void {
    if (process.isDead) return;
    // Files that were just saved are looked at a moment later.
    if (event.event === 'serving') this.#time.after(1_500, () => this.#person.comeBack(), process);
    if (['committed', 'seen', 'asking', 'answered', 'called'].includes(event.event)) return;
    const {event: name, ...rest} = event;
    this.#note(`  ${name} ${JSON.stringify(rest).slice(0, 200)}`);
  }

  #died(process: SimulatedProcess, how: Death): void {
    this.#note(`daemon ${process.holder.pid} dies at step ${process.steps}: ${how}`);
    if (how === 'power') {
      this.#disk.cutPower();
      this.#person.losePower();
      this.#boot++;
    }
    this.#gone(process);
  }

  #ended(process: SimulatedProcess, words: string): void {
    if (process.isDead) return;
    process.isDead = true;
    this.#note(`daemon ${process.holder.pid} ends: ${words}`);
    this.#gone(process);
  }

  #failed(process: SimulatedProcess, error: Error): void {
    if (process.isDead || error instanceof Killed) return;
    // It said what is wrong, and what to do.
    if (!(error instanceof UserError))
      this.#found.push(`a daemon ended with an error: ${error.stack?.split('\n').slice(0, 4).join(' | ')}`);
    this.#ended(process, error.message);
  }

  #gone(process: SimulatedProcess): void {
    this.#disk.forgetProcesses();
    if (this.#daemon?.process !== process) return;
    this.#daemon = undefined;
    this.#time.after(this.#restartAfter ?? 1_000, () => this.#start());
    this.#restartAfter = 1_000;
  }
}
