import {checkpointPath} from '../formats/common/key.ts';
import type {ContextVersion, Message, SessionHeader} from '../formats/session/session-schema.ts';
import {grouped, type Usage} from '../formats/session/spent.ts';
import type {ChatMessage} from './chat.ts';
import {
  cutPlace,
  fittingCut,
  MOST_REQUESTS,
  mostNotes,
  notesRequest,
  plainNotes,
  type TranscriptPart,
  transcriptParts,
} from './compact-plan.ts';
import {type CheckpointText, type ModelContext, modelContext, type RequestInput} from './context.ts';
import {activeCheckpoint, messageName, nextVersion} from './context-versions.ts';
import {isFlooded} from './request-batch.ts';
import {messageSize} from './token-size.ts';

/** Why a session is compacted. */
export type CompactionCause = 'size' | 'too long' | 'asked' | 'inbox';

export interface CompactionNeed {
  because: CompactionCause;
  /** How many of the last messages should stay. */
  keep: number;
  /** The context window of the session's model in tokens, if known; and that of the model that writes the notes. */
  window: number | undefined;
  notesWindow: number | undefined;
}

/** A checkpoint that is ready to be recorded. */
export interface NewCheckpoint {
  entry: ContextVersion;
  file: string;
  text: string;
}

export interface CompactionFailure {
  failed: string;
  hint: string;
}

/** Why the session must be compacted before this request; undefined: it need not be. `all`: also messages that wait for a later request. */
export function compactionCause(
  header: SessionHeader,
  context: ModelContext,
  {all, most}: {all: readonly Message[]; most: number | undefined},
): CompactionCause | undefined {
  if (header.context?.wanted) return 'asked';
  if (most !== undefined && context.tokens > most) return 'size';
  return isFlooded(all, activeCheckpoint(header)?.upto ?? 0) ? 'inbox' : undefined;
}

/** After a compaction so much of the allowed size is used at most: the next one is then many turns away. */
const FILL = 0.75;
/** Characters of a word and the space after it, with some reserve. */
const WORD = 8;
const MOST_WORDS = 900;

/**
 * One compaction, request by request: `request` is the next one to send, `accept` takes its answer. Bounded in all cases: at most
 * `MOST_REQUESTS` requests, and one repetition of notes that are too long.
 */
export class Compaction {
  readonly #input: RequestInput;
  readonly #need: CompactionNeed;
  readonly #before: ModelContext;
  #cut = 0;
  #parts: TranscriptPart[] = [];
  #notes = '';
  /** Most bytes of the notes. */
  #most = 0;
  #strict = false;
  #requests = 0;
  #notesWindow: number | undefined;
  #used: Usage = {};
  /** Set when the compaction cannot succeed. */
  failure: CompactionFailure | undefined;

  /** `before`: the request as it would be without the compaction. */
  constructor(input: RequestInput, before: ModelContext, need: CompactionNeed) {
    this.#input = input;
    this.#need = need;
    this.#before = before;
    this.#notesWindow = need.notesWindow;
    this.#notes = input.checkpoint?.text ?? '';
    this.failure = this.#plan();
  }

  /** The next request for notes. Undefined: there is nothing to ask any more. */
  request(): ChatMessage[] | undefined {
    const [part] = this.#parts;
    if (this.failure || !part) return undefined;
    if (this.#requests++ >= MOST_REQUESTS) {
      this.failure = this.#failure(`no checkpoint after ${MOST_REQUESTS} requests for one`);
      return undefined;
    }
    const words = Math.max(20, Math.min(MOST_WORDS, Math.floor(this.#most / WORD)));
    return notesRequest(part, this.#notes, {words, strict: this.#strict});
  }

  /** The notes that a request led to. Notes that are longer than they may be are refused, and asked for once more. */
  accept(text: string, usage: Usage = {}): void {
    const part = this.#parts[0];
    if (!part) return;
    this.#count(usage);
    const size = Buffer.byteLength(JSON.stringify(text));
    if (text.trim() !== '' && size <= this.#most) {
      this.#notes = text.trim();
      this.#parts = this.#parts.slice(1);
      this.#strict = false;
      return;
    }
    const tokens = (bytes: number) => grouped(Math.ceil(bytes / this.#before.charactersPerToken));
    if (this.#strict)
      this.failure = this.#failure(
        text.trim() === ''
          ? 'the model wrote no checkpoint'
          : `the checkpoint that the model wrote is too long: about ${tokens(size)} tokens, where ${tokens(this.#most)} would make the conversation shorter`,
      );
    this.#strict = true;
  }

  /** The last request got no answer, and is sent again. */
  repeat(): void {
    this.#requests--;
  }

  /** The server refused the last request as too long: read the messages in smaller parts. */
  shrink(): void {
    const [part] = this.#parts;
    if (!part) return;
    this.#notesWindow = Math.floor((this.#notesWindow ?? this.#need.window ?? 32_000) / 2);
    this.#parts = this.#partsFrom(part.first - 1);
  }

  /** Make the rest of the notes by a script, without a model. */
  summarizePlainly(): void {
    for (const part of this.#parts) this.#notes = plainNotes(this.#notes, part, this.#most);
    this.#parts = [];
  }

  /** The checkpoint, once there is nothing to ask any more. */
  result(
    header: SessionHeader,
    {id, model, now}: {id: string; model: string; now: string},
  ): NewCheckpoint | CompactionFailure {
    if (this.failure) return this.failure;
    const version = nextVersion(header);
    const upto = this.#cut;
    const entry: ContextVersion = {
      version,
      reason: 'compacted',
      because: this.#need.because,
      created: now,
      upto: messageName(upto),
      file: checkpointPath(id, version),
      tokens_before: this.#before.tokens,
      characters_per_token: Math.round(this.#before.charactersPerToken * 100) / 100,
      model,
    };
    const text = `${this.#notes.trim()}\n`;
    const after = modelContext({...this.#input, checkpoint: {entry, upto, text}});
    const most = this.#mostTokens();
    if (most !== undefined && after.tokens > most) return this.#failure(this.#tooBig(after.tokens));
    if (after.parts.checkpoint >= this.#replaced())
      return this.#failure('the checkpoint is not smaller than the messages that it stands for');
    return {
      entry: {...entry, tokens_after: after.tokens, ...(this.#requests > 0 && {usage: this.#used})},
      file: entry.file as string,
      text,
    };
  }

  #plan(): CompactionFailure | undefined {
    const {messages, checkpoint} = this.#input;
    const {because, keep, window} = this.#need;
    const from = checkpoint?.upto ?? 0;
    const perToken = this.#before.charactersPerToken;
    const notes = mostNotes(window) * perToken;
    const most = this.#mostTokens();
    const opening = (cut: number) => this.#openingSize(cut);
    const {system, tools} = this.#before.parts;
    const roomFor = (share: number) =>
      most === undefined
        ? Number.POSITIVE_INFINITY
        : most * perToken * share - system - tools - opening(Math.max(from, messages.length - keep)) - notes;
    const wanted = because === 'size' || because === 'too long' ? undefined : cutPlace(messages, {from, keep});
    if (wanted !== undefined && wanted <= from)
      return {
        failed: `nothing to compact: of ${grouped(messages.length - from)} messages the last ${keep} stay as they are`,
        hint: 'keep fewer: agentdir compact SESSION --keep N',
      };
    const cut = fittingCut(messages, {from, keep, rooms: [roomFor(FILL), roomFor(1)]});
    if (cut === undefined) return this.#failure(this.#tooBig(this.#before.tokens));
    this.#cut = cut;
    this.#most = Math.floor(Math.min(notes, this.#replaced() - opening(cut) - 1));
    if (this.#most <= 0) return this.#failure('there is too little to compact: a checkpoint would not be smaller');
    this.#parts = this.#partsFrom(from);
    return undefined;
  }

  #partsFrom(from: number): TranscriptPart[] {
    return transcriptParts(this.#input.messages, {
      ...{from, to: this.#cut, perToken: this.#before.charactersPerToken},
      window: this.#notesWindow ?? this.#need.window,
    });
  }

  #mostTokens(): number | undefined {
    return this.#input.most;
  }

  /** The size of what the checkpoint stands for: the checkpoint before, and messages. */
  #replaced(): number {
    const from = this.#input.checkpoint?.upto ?? 0;
    let size = this.#before.parts.checkpoint;
    for (let i = from; i < this.#cut; i++) size += messageSize(this.#input.messages[i] as Message);
    return size;
  }

  /** The size of the opening message without notes. */
  #openingSize(upto: number): number {
    const checkpoint: CheckpointText = {entry: {version: 1, reason: ''}, upto, text: ''};
    return modelContext({...this.#input, messages: this.#input.messages.slice(0, upto), checkpoint, most: undefined})
      .parts.checkpoint;
  }

  #count({input_tokens = 0, output_tokens = 0, cost_usd}: Usage): void {
    const used = this.#used;
    const cost = cost_usd === undefined ? used.cost_usd : (used.cost_usd ?? 0) + cost_usd;
    this.#used = {
      input_tokens: (used.input_tokens ?? 0) + input_tokens,
      output_tokens: (used.output_tokens ?? 0) + output_tokens,
      ...(cost !== undefined && {cost_usd: cost}),
    };
  }

  #tooBig(tokens: number): string {
    const {window} = this.#need;
    const room = window === undefined ? 'what the model can read' : `the ${grouped(window)} tokens of the model`;
    return `the conversation cannot be made short enough for ${room}: prompt, tools, pinned messages and the last message take too much (about ${grouped(tokens)} tokens now)`;
  }

  #failure(failed: string): CompactionFailure {
    return {
      failed: `the session could not be compacted: ${failed}`,
      hint: 'shorten or unpin what is long, set compact_model: in the template or a model with a larger window (context_tokens: in agentdir.yaml), or begin a new session; then set "status: active"',
    };
  }
}
