import {mayWork, nextSessionAction} from '../../../decide/turn.ts';
import {isSegment} from '../../../formats/common/key.ts';
import {parseSession} from '../../../formats/session/session.ts';
import type {Call, Message} from '../../../formats/session/session-schema.ts';
import type {Conversations, FoundOddity} from './conversations.ts';
import type {Difference} from './difference.ts';
import {isRecordedMessage, type MessageEntry, type MessageOrigin, printOf, type VersionSource} from './entry.ts';
import {type FieldDifference, fieldThatDiffers} from './field-that-differs.ts';
import {type EntryFate, judgeEnd} from './judge-end.ts';
import {matchEntries} from './match-entries.ts';
import {isBefore} from './out-of-place.ts';
import {lineOf, lineThatDiffers, whereTheyDiffer} from './place.ts';
import type {ReplayedSession} from './replayed.ts';
import {type PastHome, sessionIdOf, type Track} from './track.ts';

export interface PresentHome {
  /** Undefined if there is no file. */
  onDisk: (path: string) => {text: string} | {problem: string} | undefined;
  fileAt: (commit: string, path: string) => Promise<Buffer | undefined>;
  /** After all commits. */
  order: number;
}

/** Compares each final session with its records. */
export async function endings(
  conversations: Conversations,
  state: PastHome,
  world: PresentHome,
): Promise<ReplayedSession[]> {
  conversations.settle();
  const ids = new Set([...state.tracks.keys()].filter(path => !isSegment(path)).map(sessionIdOf));
  const gone = [...state.removed].filter(([id]) => !ids.has(id)).map(([, track]) => track);
  const all = [...[...state.tracks.values()].filter(({path}) => !isSegment(path)), ...gone];
  const ended: ReplayedSession[] = [];
  for (const track of all.sort((a, b) => (a.path < b.path ? -1 : 1)))
    ended.push(await new Ending(conversations, state, world, track).replayed());
  return ended;
}

class Ending {
  readonly #conversations: Conversations;
  readonly #state: PastHome;
  readonly #world: PresentHome;
  readonly #track: Track;
  readonly #notes: string[] = [];
  #there = true;

  constructor(conversations: Conversations, state: PastHome, world: PresentHome, track: Track) {
    this.#conversations = conversations;
    this.#state = state;
    this.#world = world;
    this.#track = track;
  }

  async replayed(): Promise<ReplayedSession> {
    const id = sessionIdOf(this.#track.path);
    const findings = this.#conversations.findings(id);
    const main = this.#asOnDisk(this.#track);
    const segments = (main.session.header?.segments ?? []).flatMap(path => this.#state.tracks.get(path) ?? []);
    const files = [...segments.map(track => this.#asOnDisk(track, true)), main];
    const places = files.flatMap(file => file.entries.map((entry, index): Placed => ({entry, file, index})));
    const fates = judgeEnd(
      id,
      places.map(({entry}) => entry),
      files.flatMap(({gone}) => gone),
    );
    const differences: Difference[] = [];
    for (const fate of fates)
      if (fate.intended) this.#note(fate);
      else differences.push(await this.#difference(fate, places));
    const byOrigin = new Map(places.map(place => [place.entry.origin, place]));
    for (const oddity of findings.oddities) differences.push(oddityAsDifference(oddity, byOrigin));
    const of = (role: Message['role']) =>
      places.filter(({entry: {message, origin}}) => message.role === role && origin.by.engine).length;
    const written = places.filter(
      ({entry: {message, origin}}) => isRecordedMessage(message) && !origin.by.engine,
    ).length;
    if (written > 0) this.#notes.push(`${written} of its answers and results were written by a person, not recorded`);
    return {
      session: id,
      path: this.#track.path,
      there: this.#there,
      versions: this.#track.versions,
      answers: of('assistant'),
      results: of('tool_result'),
      working: mayWork(main.session.header) && nextSessionAction(main.session).do !== 'rest',
      differences: differences.sort((a, b) => a.order - b.order || (a.message ?? 0) - (b.message ?? 0)),
      notes: this.#notes,
      unread: [...findings.unread.values()],
      passing: findings.passing - findings.unread.size,
    };
  }

  /** Includes uncommitted changes. */
  #asOnDisk(track: Track, segment = false): Track {
    const removed = !this.#state.tracks.has(track.path);
    const read = removed ? undefined : this.#world.onDisk(track.path);
    if (!segment) this.#there = read !== undefined;
    if (read === undefined) {
      if (!removed) this.#notes.push(`${track.path} is missing, and its removal is not committed`);
      return track;
    }
    const {unread} = this.#conversations.findings(sessionIdOf(track.path));
    if ('problem' in read) {
      unread.set(track.path, {path: track.path, commit: undefined, why: read.problem});
      return track;
    }
    if (read.text === track.text) return track;
    const session = parseSession(read.text, track.session);
    if (!session.header) {
      unread.set(track.path, {path: track.path, commit: undefined, why: 'it has errors'});
      return track;
    }
    const by: VersionSource = {
      ...{commit: undefined, order: this.#world.order, author: 'somebody', time: '', cause: '', engine: false},
    };
    const {entries, gone} = matchEntries(
      track.entries,
      session.messages,
      {by, path: track.path},
      this.#conversations.ledger,
    );
    return {...track, session, text: read.text, entries, gone: [...track.gone, ...gone], last: by};
  }

  #note({kind, entry: {message, origin}, by, at}: EntryFate): void {
    if (kind === 'added') return;
    const what = isRecordedMessage(message) ? `${wordsOf(message)} (${shortCommit(origin.by.commit)})` : 'a message';
    const place = kind === 'missing' ? '' : `message ${at + 1}: `;
    const why = isRecordedMessage(message) && kind !== 'missing' ? '; the model was asked again' : '';
    this.#notes.push(`${place}${what} was ${DONE[kind]} by ${by.author} in ${shortCommit(by.commit)}${why}`);
  }

  async #difference({kind, entry, by, at}: EntryFate, places: readonly Placed[]): Promise<Difference> {
    const {message, origin} = entry;
    const recorded = kind === 'changed' ? await this.#asRecorded(origin) : kind === 'added' ? undefined : message;
    const now = kind === 'missing' ? undefined : message;
    const differs = kind === 'moved' ? placeThatDiffers(places, at) : fieldThatDiffers(recorded, now);
    const place = kind === 'missing' ? undefined : places[at];
    // The missing message was above this one.
    const next = places[at + 1];
    const call = callOf(recorded ?? message, differs.call, places, place ? at : at + 1);
    const shown = whereTheyDiffer(differs.recorded, differs.replayed);
    return {
      kind,
      what: `${wordsOf(recorded ?? message, call)} ${WORDS[kind]}`,
      path: (place ?? next)?.file.path ?? origin.path,
      message: place ? place.index + 1 : undefined,
      line: place
        ? lineOf(place.file.text, place.index, differs.part, lineThatDiffers(differs.recorded, differs.replayed))
        : next && lineOf(next.file.text, next.index, []),
      role: message.role,
      call: call?.id,
      tool: call?.function.name,
      field: differs.field,
      recorded: kind === 'added' ? 'nothing' : shown.a,
      replayed: kind === 'missing' ? 'nothing' : shown.b,
      commit: kind === 'added' ? undefined : origin.by.commit,
      changed: {commit: by.commit, author: by.author, time: by.time},
      order: kind === 'added' ? by.order : origin.by.order,
    };
  }

  /** The message as first recorded. */
  async #asRecorded({by, path, print}: MessageOrigin): Promise<Message | undefined> {
    const bytes = by.commit === undefined ? undefined : await this.#world.fileAt(by.commit, path);
    return bytes && parseSession(bytes.toString('utf8')).messages.find(message => printOf(message) === print);
  }
}

/** Its recorded and its current position. */
function placeThatDiffers(places: readonly Placed[], at: number): FieldDifference {
  const {origin} = (places[at] as Placed).entry;
  const [former = -1] = [...places.keys()]
    .filter(each => {
      const other = (places[each] as Placed).entry;
      return isRecordedMessage(other.message) && other.origin.by.engine && isBefore(other.origin, origin);
    })
    .sort((a, b) => (isBefore((places[a] as Placed).entry.origin, (places[b] as Placed).entry.origin) ? 1 : -1));
  const below = (place: number) =>
    place < 0 ? 'above all others' : `below message ${(places[place]?.index ?? 0) + 1}`;
  return {field: 'place', part: ['role'], call: undefined, recorded: below(former), replayed: below(at - 1)};
}

const DONE = {changed: 'changed', missing: 'taken out', moved: 'moved'} as const;

const WORDS = {
  changed: 'differs from what was recorded',
  missing: 'is missing',
  added: 'was inserted before messages that were written without it',
  moved: 'is not in its recorded place',
} as const;

interface Placed {
  entry: MessageEntry;
  file: Track;
  index: number;
}

/** The call of a result. */
function callOf(message: Message, own: number | undefined, places: readonly Placed[], at: number): Call | undefined {
  if (own !== undefined) return message.tool_calls?.[own];
  if (message.tool_call_id === undefined) return undefined;
  for (let i = Math.min(at, places.length) - 1; i >= 0; i--) {
    const call = places[i]?.entry.message.tool_calls?.find(({id}) => id === message.tool_call_id);
    if (call) return call;
  }
  return undefined;
}

function wordsOf({role, tool_call_id}: Message, call?: Call): string {
  if (role !== 'tool_result') return call ? `call ${call.id} (${call.function.name}) of an answer` : 'an answer';
  return `the result of call ${tool_call_id}${call ? ` (${call.function.name})` : ''}`;
}

function shortCommit(commit: string | undefined): string {
  return commit === undefined ? 'the file on disk' : commit.slice(0, 7);
}

function oddityAsDifference(oddity: FoundOddity, places: ReadonlyMap<MessageOrigin, Placed>): Difference {
  const {kind, what, field, recorded, replayed, entry, by, call, path} = oddity;
  const place = entry && places.get(entry.origin);
  const shown = whereTheyDiffer(recorded, replayed);
  return {
    ...{kind, what, field, commit: by.commit, order: by.order, changed: undefined},
    path: place?.file.path ?? path,
    message: place && place.index + 1,
    line: place && lineOf(place.file.text, place.index, [call ? 'tool_calls' : 'role']),
    role: entry?.message.role,
    call: call?.id ?? entry?.message.tool_call_id,
    tool: call?.function.name,
    recorded: shown.a,
    replayed: shown.b,
  };
}
