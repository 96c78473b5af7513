import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import {UserError} from '../../formats/common/errors.ts';
import {appendLines} from '../../home/append-line.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {isUndecided, type Request, readQueue} from '../actions/decide/queue.ts';
import {Commits, type CommittedFile} from './commits.ts';
import {findScene, INBOX, question, type Scene, scenes, shownLines} from './scenes.ts';
import type {PostedMessage, StandIn} from './slack.ts';
import {sentLine} from './tell-files.ts';
import type {StoryTeller} from './teller.ts';
import {tick} from './tick.ts';

export interface StoryOptions {
  home: string;
  auto: boolean;
  teller: StoryTeller;
  slack: StandIn;
  /** Resolves when the person wants the box ticked for them. */
  asksForTick: (signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
}

export interface StoryResult {
  /** Short ids of the shown commits, in order. */
  commits: readonly string[];
  sent: readonly PostedMessage[];
}

type Found = readonly [Scene, CommittedFile];

const LOOK_MS = 60;
/** Steps take a second or two, longer on a busy machine. */
const PATIENCE_MS = 120_000;

/** From a line in the inbox to the answer, or to a rejection. */
export async function play(options: StoryOptions): Promise<StoryResult> {
  const story = new Story(options);
  await story.ask();
  await story.see(scenes.delivered);
  await story.see(scenes.planned);
  await story.see(scenes.found);
  if (await story.checks()) await story.answers();
  return {commits: story.commits, sent: options.slack.posted};
}

class Story {
  readonly commits: string[] = [];
  readonly #options: StoryOptions;
  readonly #journal: Commits;
  /** Changes before this one belong to earlier scenes. */
  #from = 0;

  constructor(options: StoryOptions) {
    this.#options = options;
    this.#journal = new Commits(options.home);
  }

  async ask(): Promise<void> {
    const {home, teller} = this.#options;
    const line = JSON.stringify(question).replaceAll('","', '", "').replaceAll('":"', '": "');
    await appendLines(nodeDisk(home), INBOX, `${line}\n`);
    await teller.showStep({
      step: 'asked',
      title: 'Somebody asks in Slack. A connector appends the message to a file.',
      path: INBOX,
      lines: [{sign: '+', text: line}],
    });
  }

  /** The command and its outcome; false if the story ends here. */
  async checks(): Promise<boolean> {
    await this.see(scenes.commandAsked);
    const [decision, change] = await this.#turn(1, scenes.commandAsked, scenes.commandApproved, scenes.commandRejected);
    await this.#tell(decision, change);
    if (decision === scenes.commandRejected) {
      await this.see(scenes.blocked);
      return false;
    }
    await this.see(scenes.ran);
    const next = await this.see(scenes.checked, scenes.blocked);
    if (next === scenes.blocked) return false;
    await this.see(scenes.validated);
    return true;
  }

  /** The answer: sent if it is approved. */
  async answers(): Promise<void> {
    const [, asked] = await this.#first(scenes.answerAsked);
    this.#from = this.#journal.changes.indexOf(asked);
    await this.#tell(scenes.answerAsked, asked);
    const [decision, decided] = await this.#turn(2, scenes.answerAsked, scenes.answerApproved, scenes.answerRejected);
    if (decision === scenes.answerRejected) return this.#tell(decision, decided);
    const [ended, change] = await this.#first(scenes.recorded, scenes.failed);
    if (ended === scenes.failed) return this.#tell(ended, change);
    this.commits.push(decided.commit, change.commit);
    const line = sentLine(this.#options.home);
    await this.#options.teller.showStep({
      step: 'sent',
      title: 'The answer is in Slack, once, and in the session file.',
      path: INBOX,
      lines: line === undefined ? [] : [{sign: '+', text: line}],
    });
  }

  /** Waits for the first of these scenes and shows it. */
  async see(...wanted: Scene[]): Promise<Scene> {
    const [scene, change] = await this.#first(...wanted);
    await this.#tell(scene, change);
    return scene;
  }

  async #tell(scene: Scene, change: CommittedFile): Promise<void> {
    const {commit, author, path} = change;
    this.commits.push(commit);
    const {step, title, more} = scene;
    await this.#options.teller.showStep({step, title, path, lines: shownLines(scene, change), commit, author, more});
  }

  async #first(...wanted: Scene[]): Promise<Found> {
    for (const end = performance.now() + PATIENCE_MS; ; ) {
      const found = await this.#look(wanted);
      if (found) return found;
      if (performance.now() > end)
        throw new UserError(
          `the demo waited ${PATIENCE_MS / 1000} s for the step "${wanted.map(({step}) => step).join('" or "')}"`,
          undefined,
          `see ${join(this.#options.home, 'NEEDS_YOU.md')}`,
        );
    }
  }

  async #look(wanted: readonly Scene[]): Promise<Found | undefined> {
    await pause(LOOK_MS, undefined, {signal: this.#options.signal});
    await this.#journal.look();
    for (const scene of wanted) {
      const change = findScene(scene, this.#journal.changes.slice(this.#from));
      if (change) return [scene, change];
    }
    return undefined;
  }

  /** Waits until the person has decided, in a file, by a command, or with Enter. */
  async #turn(box: number, asked: Scene, ...ends: Scene[]): Promise<Found> {
    const {home, auto, teller, asksForTick, signal} = this.#options;
    const over = new AbortController();
    let told = '';
    let wanted = auto;
    const listen = () =>
      asksForTick(AbortSignal.any([over.signal, signal])).then(
        () => {
          wanted = true;
        },
        () => {},
      );
    try {
      for (;;) {
        const request = this.#open(asked);
        // A changed request is asked again, as another item.
        if (request && request.id !== told) {
          const {line, title} = request.task;
          await teller.turn({box, of: 2, id: request.id, file: join(home, APPROVALS_FILE), line, title, auto});
          if (!auto && told === '') void listen();
          told = request.id;
        }
        if (request && wanted) {
          const objection = await tick(home, request);
          wanted = auto && objection !== undefined;
          if (objection !== undefined) teller.aside(objection);
          if (!auto) void listen();
        }
        const found = await this.#look(ends);
        // An unclear or changed request is not decided yet; the daemon says why.
        if (found && this.#isDecided(asked)) return found;
      }
    } finally {
      over.abort();
    }
  }

  #open(asked: Scene): Request | undefined {
    const {home} = this.#options;
    return this.#requests(asked).find(request => isUndecided(home, request));
  }

  #isDecided(asked: Scene): boolean {
    return this.#requests(asked).some(({status}) => status === 'approved' || status === 'rejected');
  }

  #requests({adds}: Scene): Request[] {
    return readQueue(this.#options.home).requests.filter(({task}) => adds.test(`- [_] "${task.title}`));
  }
}
