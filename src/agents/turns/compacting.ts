import {openChildren, pendingApprovals} from '../../check/standing-facts.ts';
import {Compaction, type CompactionCause, compactionCause, type NewCheckpoint} from '../../decide/compaction.ts';
import {type CheckpointText, type ModelContext, modelContext, type RequestInput} from '../../decide/context.ts';
import {activeCheckpoint, hasAnswered} from '../../decide/context-versions.ts';
import {childSessions} from '../../decide/standing.ts';
import type {Answer, ToolOffer} from '../../effects/model/answer.ts';
import {estimateUsage, isCounted} from '../../effects/model/collect.ts';
import {compactionSettings} from '../../formats/compaction.ts';
import {chooseModel, type ModelChoice} from '../../formats/model-choice.ts';
import type {Message, SessionHeader} from '../../formats/session/session-schema.ts';
import type {Settings} from '../../formats/settings.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {crashPoint} from '../../home/disk/crash.ts';
import {blobId} from '../../home/git/blob-id.ts';
import {readHomeFile} from '../../home/read.ts';
import {versionText} from '../../loop/accept-version.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';

/** Instead of a request: a checkpoint to record first, or why there is none. */
export type Compacted =
  | {checkpoint: NewCheckpoint}
  | {refused: string}
  | {limited: true}
  | Exclude<Answer, {reply: unknown}>;

/** Everything that goes into a request to the model. */
export interface RequestBasis {
  caller: Omit<Caller, 'of'>;
  settings: Settings;
  choice: Exclude<ModelChoice, {failed: string}>;
  system: string;
  tools: readonly ToolOffer[];
  /** Whether a spending limit is reached. */
  limited: () => boolean;
  signal: AbortSignal;
}

type Parts = With<'files' | 'reports' | 'spend' | 'effects'>;

/** Longer than a file may take to hold still. */
const MOST_WAIT_MS = 1_500;
const LOOK_MS = 15;

/** A person may have saved this file just before the message that is answered. Returns once the loop has accepted the save, or after a while. */
async function saveAccepted({disk, known, queue}: HomeFiles, path: string): Promise<void> {
  for (let waited = 0; waited < MOST_WAIT_MS; waited += LOOK_MS) {
    const bytes = readHomeFile(disk, path)?.bytes;
    if (bytes === undefined || blobId(bytes) === known.get(path)?.blob) return;
    queue.add(path);
    await disk.clock.pause(LOOK_MS);
  }
}

/** Whether a person asks for the session to be compacted. */
export function isCompactionWanted(header: Partial<SessionHeader> | undefined): boolean {
  return header?.context?.wanted !== undefined && header.status !== 'completed';
}

/** Makes the request for a session, and compacts the session first if it must. A retry goes on where the last try ended. */
export class ContextBuilder {
  readonly #header: SessionHeader;
  /** The messages that the request is about, and all that the session has. */
  readonly #messages: readonly Message[];
  readonly #all: readonly Message[];
  #compaction: Compaction | undefined;
  #cause: CompactionCause | undefined;

  constructor(header: SessionHeader, messages: readonly Message[], all: readonly Message[]) {
    this.#header = header;
    this.#messages = messages;
    this.#all = all;
  }

  get isCompacted(): boolean {
    return activeCheckpoint(this.#header) !== undefined;
  }

  /** The request, or what comes before it. */
  async prepare(daemon: Parts, basis: RequestBasis): Promise<ModelContext | Compacted> {
    if (this.#compaction) return this.#go(daemon, basis);
    const input = await this.#input(daemon.files, basis);
    if ('failed' in input) return input;
    const context = modelContext(input);
    const cause = compactionCause(this.#header, context, {all: this.#all, most: input.most});
    if (!cause) return context;
    const {failure} = this.#begin(input, context, basis, cause);
    const window = basis.choice.contextTokens;
    // Nothing can be left out, but the request fits.
    if (cause === 'size' && failure && window !== undefined && context.tokens < window * ALMOST) return context;
    return this.#go(daemon, basis);
  }

  /** The server refused the request as too long. Undefined: the last answer to that was a checkpoint already. */
  async afterRefusal(daemon: Parts, basis: RequestBasis): Promise<Compacted | undefined> {
    const {entry} = activeCheckpoint(this.#header) ?? {};
    if (entry?.because === 'too long' && !hasAnswered(this.#messages, entry)) return undefined;
    const input = await this.#input(daemon.files, basis);
    if ('failed' in input) return input;
    const context = modelContext(input);
    const most = Math.floor(Math.min(input.most ?? Number.POSITIVE_INFINITY, context.tokens * SMALLER));
    this.#begin({...input, most}, context, basis, 'too long');
    return this.#go(daemon, basis);
  }

  #begin(input: RequestInput, context: ModelContext, basis: RequestBasis, because: CompactionCause): Compaction {
    const {settings, choice, caller} = basis;
    const known = choice.contextTokens;
    const window =
      because === 'too long' ? Math.min(known ?? Number.POSITIVE_INFINITY, context.tokens * SMALLER) : known;
    const keep =
      this.#header.context?.wanted?.keep ?? compactionSettings(caller.template.compaction, settings.compaction).keep;
    const writer = caller.template.compact_model;
    this.#cause = because;
    const need = {...{because, keep, window}, notesWindow: writer === undefined ? window : undefined};
    this.#compaction = new Compaction(input, context, need);
    return this.#compaction;
  }

  async #input(files: HomeFiles, basis: RequestBasis): Promise<RequestInput | {failed: string; hint: string}> {
    const {caller, settings, choice, system, tools} = basis;
    const checkpoint = await this.#checkpoint(files);
    if (checkpoint && 'failed' in checkpoint) return checkpoint;
    const {at} = compactionSettings(caller.template.compaction, settings.compaction);
    const {index} = files;
    return {
      ...{system, tools, checkpoint, messages: this.#messages, path: caller.path},
      standing: {
        approvals: pendingApprovals(index, caller.agent),
        children: openChildren(index, childSessions(this.#messages)),
      },
      tainted: (this.#header.tainted?.length ?? 0) > 0,
      most: choice.contextTokens === undefined ? undefined : Math.floor(choice.contextTokens * at),
    };
  }

  /** The text of the checkpoint in force, as a person may have edited it. */
  async #checkpoint(files: HomeFiles): Promise<CheckpointText | {failed: string; hint: string} | undefined> {
    const active = activeCheckpoint(this.#header);
    if (!active) return undefined;
    const {entry, upto, file} = active;
    await saveAccepted(files, file);
    const blob = files.known.get(file)?.good;
    const text = blob === undefined ? undefined : await versionText(files, blob, file);
    const hint = 'restore it (git log), or set version: 1 under context: in the session, then "status: active"';
    if (text === undefined || text.trim() === '')
      return {failed: `the checkpoint ${file} is ${text === undefined ? 'missing' : 'empty'}`, hint};
    if (upto > this.#all.length)
      return {failed: `the checkpoint stands for ${upto} messages, and there are ${this.#all.length}`, hint};
    return {entry, upto, text};
  }

  /** Ask for notes until there is a checkpoint. */
  async #go({files, reports, spend, effects}: Parts, basis: RequestBasis): Promise<Compacted> {
    const compaction = this.#compaction as Compaction;
    const {caller, settings, signal} = basis;
    const {agent, session, template} = caller;
    const {compact_model} = template;
    const choice =
      compact_model === undefined ? basis.choice : chooseModel(compact_model, settings, effects.world.environment);
    if ('failed' in choice) return choice;
    let model = choice.kind === 'playbook' ? 'playbook' : (choice.id ?? '');
    reports.report({event: 'compacting', session, agent, model: model || 'the first model of the server'});
    if (choice.kind === 'playbook') compaction.summarizePlainly();
    for (;;) {
      const messages = compaction.request();
      if (!messages) break;
      if (basis.limited()) return {limited: true};
      const question = {choice, playbooks: [], agent, messages, session: [], tools: []};
      crashPoint('turn-ask');
      const answer = await effects.runner.ask(question, {signal, onText: () => {}});
      if ('reply' in answer) {
        crashPoint('turn-answer');
        const {reply} = answer;
        if (!isCounted(reply) && choice.kind === 'openai') reply.usage = estimateUsage(question, reply, choice.price);
        spend.add(agent, reply.usage, timestamp(files.disk.clock));
        model = reports.redact.text(reply.model);
        compaction.accept(reports.redact.text(reply.content ?? ''), reply.usage);
      } else if ('failed' in answer && answer.tooLong) compaction.shrink();
      else {
        if ('retry' in answer) compaction.repeat();
        return answer;
      }
    }
    const result = compaction.result(this.#header, {id: session, model, now: timestamp(files.disk.clock)});
    if (!('failed' in result)) return {checkpoint: result};
    return this.#cause === 'asked' ? {refused: result.failed} : result;
  }
}

/** A request of this part of the window may still be sent if nothing can be left out. */
const ALMOST = 0.95;
/** How much smaller a request must become that the server refused. */
const SMALLER = 0.7;
