import {isSegment} from '../../../formats/common/key.ts';
import {parseSession, type Session} from '../../../formats/session/session.ts';
import {allTemplates, type HomeState, templateOf} from '../verify/home-state.ts';
import {replayStep} from './engine-step.ts';
import {type MessageEntry, type MessageOrigin, type MissingEntry, printOf, type VersionSource} from './entry.ts';
import {Ledger} from './ledger.ts';
import {keepEntry, matchEntries} from './match-entries.ts';
import type {UnreadVersion} from './replayed.ts';
import type {Oddity, StepResult, TemplateNow, VersionStep} from './step.ts';
import {allEntries, allMessages, type PastHome, sessionIdOf, settledIn, type Track} from './track.ts';
import {type CallDone, callsDoneIn, changedVerdict, verdictOddity} from './verdicts.ts';

/** A step that the engine would have done differently, and its place. */
export interface FoundOddity extends Oddity {
  kind: 'step' | 'verdict';
  path: string;
  by: VersionSource;
  entry: MessageEntry | undefined;
}

export interface SessionFindings {
  oddities: FoundOddity[];
  unread: Map<string, UnreadVersion>;
  passing: number;
}

/** Causes of daemon commits with content by others. */
const OTHERS: ReadonlySet<string> = new Set(['merge', 'HEAD moved', 'void']);

/** Within this time, a policy change and a call may be committed in either order. */
const NEAR_MS = 10_000;

interface Suspect {
  found: FoundOddity;
  done: CallDone;
  findings: SessionFindings;
}

/** Reads the versions of sessions in order and repeats each step of the daemon. */
export class Conversations {
  readonly ledger = new Ledger();
  /** Judged calls, by first record: restored calls are not judged again. */
  readonly #judged = new Set<string>();
  readonly #findings = new Map<string, SessionFindings>();
  readonly #templates = new Map<string, {[Key in keyof TemplateNow]: Set<string | undefined>}>();
  readonly #now: HomeState | undefined;
  #suspects: Suspect[] = [];

  /** `now`: judge calls by this policy instead of the one of their time. */
  constructor(now: HomeState | undefined) {
    this.#now = now;
  }

  findings(session: string): SessionFindings {
    const known = this.#findings.get(session) ?? {oddities: [], unread: new Map(), passing: 0};
    this.#findings.set(session, known);
    return known;
  }

  version(
    state: PastHome,
    path: string,
    read: {text: string | undefined} | {problem: string},
    {by, begins}: {by: VersionSource; begins: boolean},
  ): void {
    const id = sessionIdOf(path);
    const findings = this.findings(id);
    const former = state.tracks.get(path);
    const {text} = 'text' in read ? read : {text: ''};
    if (text === undefined) {
      state.tracks.delete(path);
      findings.unread.delete(path);
      if (former && !isSegment(path)) state.removed.set(id, former);
      return;
    }
    const before = former ?? (isSegment(path) ? undefined : state.removed.get(id));
    const session = parseSession(text, usable(before));
    if (!session.header) {
      const why = 'problem' in read ? read.problem : 'it has errors';
      findings.passing++;
      findings.unread.set(path, {path, commit: by.commit, why});
      return;
    }
    findings.unread.delete(path);
    const {entries, gone} = begins
      ? this.#begin(session, {by: {...by, engine: true}, path})
      : isSegment(path)
        ? this.#segment(state, session, {by, path}, former)
        : this.#next(state, session, {by, path}, before);
    state.tracks.set(path, {
      path,
      session,
      text,
      entries,
      gone: [...(before?.gone ?? []), ...gone],
      versions: (before?.versions ?? 0) + 1,
      last: by,
      read: usable(before) ? (before?.read ?? 0) + 1 : 0,
    });
  }

  /** Called when the policy, settings or a template changed. */
  policyChanged(home: HomeState, {time}: VersionSource): void {
    for (const template of allTemplates(home)) {
      const known = this.#templates.get(template.id) ?? {
        agent_type: new Set(),
        model: new Set(),
        system_prompt: new Set(),
      };
      known.agent_type.add(template.type);
      known.model.add(template.model ?? 'default');
      known.system_prompt.add(template.system_prompt);
      this.#templates.set(template.id, known);
    }
    this.#suspects = this.#suspects.filter(({found, done}) => !isNear(found.by.time, time) || !explains(home, done));
  }

  /** Reports remaining verdicts at the end. */
  settle(): void {
    for (const {found, findings} of this.#suspects) findings.oddities.push(found);
    this.#suspects = [];
  }

  /** Shallow clone: existing messages count as recorded. */
  #begin(
    {messages}: Session,
    from: Omit<MessageOrigin, 'at' | 'print'>,
  ): {entries: MessageEntry[]; gone: MissingEntry[]} {
    const entries = messages.map((message, at): MessageEntry => {
      const origin = this.ledger.record(message, {...from, at, print: printOf(message)});
      return {message, print: origin.print, origin, edits: []};
    });
    return {entries, gone: []};
  }

  /** Messages of a segment. */
  #segment(
    state: PastHome,
    {messages}: Session,
    from: Omit<MessageOrigin, 'at' | 'print'>,
    former: Track | undefined,
  ): {entries: readonly MessageEntry[]; gone: MissingEntry[]} {
    if (former) return matchEntries(former.entries, messages, from, this.ledger);
    const id = sessionIdOf(from.path);
    const main = [...state.tracks.values()].find(({path}) => !isSegment(path) && sessionIdOf(path) === id);
    const entries = messages.map((message, at): MessageEntry => {
      const own = main?.entries[at];
      if (own?.print === printOf(message)) return keepEntry(own, message);
      return this.ledger.entryFor(message, {...from, at, print: printOf(message)});
    });
    return {entries, gone: []};
  }

  #next(
    state: PastHome,
    session: Session,
    from: {by: VersionSource; path: string},
    before: Track | undefined,
  ): {entries: readonly MessageEntry[]; gone: MissingEntry[]} {
    const {by, path} = from;
    const all = allEntries(state, before?.session.header ?? {}, before?.entries ?? []);
    const messages = allMessages(state, session);
    const own = (entries: readonly MessageEntry[]) => entries.slice(messages.length - session.messages.length);
    if (by.engine && !OTHERS.has(by.cause)) {
      const agent = session.header?.agent_id ?? '';
      const template = (this.#templates.get(agent) ?? this.#templates.get(agent.split('@')[0] ?? '')) as
        | TemplateNow
        | undefined;
      const settled = settledIn(state, before?.session.header ?? {}, session.header ?? {});
      const step: VersionStep = {
        by,
        path,
        before: before?.session,
        after: session,
        entries: all,
        messages,
        settled,
        template,
      };
      const stepped = replayStep(step, this.ledger);
      if (stepped) {
        this.#judge(state, step, stepped);
        return {entries: own(stepped.entries), gone: []};
      }
    }
    const wrong = by.engine && !OTHERS.has(by.cause) && by.cause !== 'recovered';
    const {entries, gone} = matchEntries(all, messages, {path, by: wrong ? {...by, wrong} : by}, this.ledger);
    return {entries: own(entries), gone};
  }

  #judge(state: PastHome, step: VersionStep, stepped: StepResult): void {
    const {by, path} = step;
    const findings = this.findings(sessionIdOf(path));
    const found = (oddity: Oddity, kind: FoundOddity['kind']): FoundOddity => ({
      ...{...oddity, kind, path, by},
      entry: oddity.at === undefined ? undefined : stepped.entries[oddity.at],
    });
    for (const oddity of stepped.oddities) findings.oddities.push(found(oddity, 'step'));
    for (const done of callsDoneIn(step, stepped)) {
      const key = [stepped.entries[done.at]?.origin.print, done.call.id, done.call.started, done.how].join(' ');
      if (this.#judged.size === this.#judged.add(key).size) continue;
      const oddity = this.#now ? changedVerdict(done, state.home, this.#now) : verdictOddity(done, state.home);
      if (!oddity) continue;
      const suspect = {found: found(oddity, 'verdict'), done, findings};
      if (this.#now) findings.oddities.push(suspect.found);
      else if (!isOfFormer(state, suspect)) this.#suspects.push(suspect);
    }
  }
}

/** Whether the call may have been judged just before the policy changed. */
function isOfFormer({former}: PastHome, {found, done}: Suspect): boolean {
  return former !== undefined && isNear(former.time, found.by.time) && explains(former.home, done);
}

function explains(home: HomeState, done: CallDone): boolean {
  return templateOf(home, done.agent) !== undefined && verdictOddity(done, home) === undefined;
}

function isNear(a: string, b: string): boolean {
  return Math.abs(Date.parse(a) - Date.parse(b)) <= NEAR_MS;
}

/** Messages keep their source text in memory, so parse from scratch after this many versions. */
const MOST_READ = 8;
/** More for large sessions, which are few and slow to parse. */
const LARGE = 256 * 1024;
const MOST_READ_LARGE = 32;

function usable(track: Track | undefined): Session | undefined {
  const most = (track?.text.length ?? 0) > LARGE ? MOST_READ_LARGE : MOST_READ;
  return track && track.read < most ? track.session : undefined;
}
