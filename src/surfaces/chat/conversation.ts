import {UserError} from '../../formats/common/errors.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Call, Message, SessionHeader} from '../../formats/session/session-schema.ts';
import type {LiveEvent} from '../../home/live.ts';
import type {SessionFile} from '../../home/session-files.ts';
import {type AnswerUsage, usageOf} from '../actions/talk/answer.ts';
import {readSession} from '../actions/talk/find-session.ts';
import {answerEntry, callEntry, type Entry, errorEntry, noticeEntry, personEntry, senderEntry} from './entries.ts';

/** How many messages of a long conversation are shown when it is opened. */
const OPENED = 30;

/** The answer that is being written. */
export interface LiveAnswer {
  turn: string;
  text: string;
  calls: {name: string; args: string}[];
  /** Why the model is asked again, and when. */
  retry: string | undefined;
}

/**
 * A session on the screen. The file is authoritative: every message of it is shown once, and live text disappears when the file has the
 * answer.
 */
export class Conversation {
  readonly file: SessionFile;
  header: SessionHeader | undefined;
  /** Calls without a result. */
  open: readonly Call[] = [];
  usage: AnswerUsage | null = null;
  /** Tokens of the last request and its answer: what fills the context. */
  contextTokens = 0;
  /** The model of the last answer. */
  model: string | undefined;
  /** Whether details of calls are shown. */
  isDetailed = false;
  readonly #home: string;
  #session: Session | undefined;
  /** How often each message was shown. */
  #shown = new Map<string, number>();
  #last = '';
  #segments = 0;
  #isOpened = false;
  #live: (LiveAnswer & {answers: number | undefined}) | undefined;
  #answers = 0;
  #error = '';
  #status: string | undefined;

  constructor(home: string, file: SessionFile) {
    this.#home = home;
    this.file = file;
  }

  /** What the file has that was not shown yet. Never throws for a file with errors: it says so once. */
  read(): Entry[] {
    try {
      const found = readSession(this.#home, this.file, this.#session);
      if (!found) return this.#isOpened ? this.#tell(`${this.file.path} is gone`) : [];
      this.#error = '';
      this.#session = found.session;
      this.header = found.header;
      return this.#news(found.session.messages, found.header);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return this.#tell(error.message, error.hint);
    }
  }

  /** The answer under way, unless the file has it. */
  get live(): LiveAnswer | undefined {
    const live = this.#live;
    return live && (live.answers === undefined || live.answers >= this.#answers) ? live : undefined;
  }

  hear(event: LiveEvent): void {
    if (event.event === 'begin') {
      this.#live = {turn: event.turn, text: '', calls: [], retry: undefined, answers: event.after?.answers};
      return;
    }
    const live = this.#live;
    if (!live || live.turn !== event.turn) return;
    if (event.event === 'text') {
      live.text += event.text;
      live.retry = undefined;
    } else if (event.event === 'call') live.calls.push({name: event.name, args: event.args});
    else if (event.event === 'retry') {
      live.text = '';
      live.calls = [];
      live.retry = `${event.why}; asked again at ${new Date(event.next).toTimeString().slice(0, 8)}`;
    } else if (event.how !== 'answered') this.#live = undefined;
  }

  /** Details of the calls since the last message of a person. */
  details(): Entry[] {
    const messages = this.#session?.messages ?? [];
    const from = messages.findLastIndex(({role}) => role === 'user');
    const since = messages.slice(Math.max(0, from));
    const results = resultsOf(since);
    const said =
      since[0]?.role === 'user' && !isPerson(since[0])
        ? [senderEntry(since[0].from ?? 'user', since[0].content ?? '', true)]
        : [];
    const calls = since.flatMap(({tool_calls = []}) =>
      tool_calls.map(call => callEntry(call, results.get(call.id), true)),
    );
    return calls.length + said.length > 0 ? [...said, ...calls] : [noticeEntry('no calls since the last message')];
  }

  #tell(message: string, hint?: string): Entry[] {
    if (this.#error === message) return [];
    this.#error = message;
    return [errorEntry(message, hint)];
  }

  #news(messages: readonly Message[], header: SessionHeader): Entry[] {
    const entries: Entry[] = [];
    const segments = header.segments?.length ?? 0;
    if (!this.#isOpened) entries.push(...this.#skipOld(messages, segments));
    else if (segments !== this.#segments) this.#recount(messages);
    this.#isOpened = true;
    this.#segments = segments;
    this.#answers = messages.reduce((sum, {role}) => sum + (role === 'assistant' ? 1 : 0), 0);
    const results = resultsOf(messages.slice(-OPENED - 200));
    const open: Call[] = [];
    for (const call of this.open)
      if (results.has(call.id)) entries.push(callEntry(call, results.get(call.id), this.isDetailed));
      else if (messages.some(each => each.tool_calls?.some(({id}) => id === call.id))) open.push(call);
    const counts = new Map<string, number>();
    const lastShown = messages.findLastIndex(message => message.role !== 'user' && keyOf(message) === this.#last);
    let isEdited = false;
    for (const [i, message] of messages.entries()) {
      const key = keyOf(message);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= (this.#shown.get(key) ?? 0)) continue;
      this.#shown.set(key, count);
      if (i < lastShown) isEdited = true;
      else {
        entries.push(...this.#entriesOf(message, header, results, open));
        if (message.role !== 'user') this.#last = key;
      }
    }
    const isWithdrawn = lastShown === -1 && this.#last !== '' && !counts.has(this.#last);
    if (isWithdrawn) this.#last = '';
    if (isEdited || isWithdrawn) entries.push(noticeEntry('messages above were changed in the file; see /show'));
    this.open = open.map(call => latest(messages, call));
    this.#measure(messages);
    return [...entries, ...this.#statusEntries(header)];
  }

  /** Marks all but the last messages as shown. */
  #skipOld(messages: readonly Message[], segments: number): Entry[] {
    let from = Math.max(0, messages.length - OPENED);
    // Begin with a message, not with the result of a call.
    const start = messages.findIndex((message, i) => i >= from && message.role === 'user');
    if (from > 0 && start !== -1) from = start;
    for (const message of messages.slice(0, from)) this.#count(message);
    if (from === 0 && segments === 0) return [];
    const count =
      segments > 0 ? `${from} earlier messages, and more in ${segments} archived files` : `${from} earlier messages`;
    return [noticeEntry(`${count}: /show`)];
  }

  #recount(messages: readonly Message[]): void {
    const last = messages.findLastIndex(message => keyOf(message) === this.#last);
    this.#shown = new Map();
    for (const message of messages.slice(0, last + 1)) this.#count(message);
  }

  #count(message: Message): void {
    const key = keyOf(message);
    this.#shown.set(key, (this.#shown.get(key) ?? 0) + 1);
  }

  #entriesOf(message: Message, header: SessionHeader, results: ReadonlyMap<string, string>, open: Call[]): Entry[] {
    const {role, content, tool_calls = [], from, model} = message;
    const text = content ?? '';
    if (role === 'user')
      return [isPerson(message) ? personEntry(text) : senderEntry(from ?? 'user', text, this.isDetailed)];
    if (role !== 'assistant') return [];
    const entries =
      text.trim() === '' ? [] : [answerEntry(header.agent_id, text, model === 'playbook' ? 'playbook, not an AI' : '')];
    for (const call of tool_calls) {
      const result = results.get(call.id);
      if (result === undefined) open.push(call);
      else entries.push(callEntry(call, result, this.isDetailed));
    }
    return entries;
  }

  #measure(messages: readonly Message[]): void {
    this.usage = usageOf(messages);
    const last = messages.findLast(({usage}) => usage !== undefined);
    this.contextTokens = (last?.usage?.input_tokens ?? 0) + (last?.usage?.output_tokens ?? 0);
    this.model = last?.model ?? this.header?.model;
  }

  #statusEntries({status, error}: SessionHeader & {error?: unknown}): Entry[] {
    if (status === this.#status) return [];
    const isFirst = this.#status === undefined;
    this.#status = status;
    if (status === 'error') {
      const said =
        typeof error === 'string'
          ? error
          : ((error as {message?: string} | undefined)?.message ?? 'it stopped with an error');
      return [errorEntry(said, 'fix the cause, then send a message, or /resume')];
    }
    if (status === 'paused') return [noticeEntry('the session is paused: /resume')];
    return status === 'completed' && !isFirst ? [noticeEntry('the session is completed')] : [];
  }
}

function isPerson({from}: Message): boolean {
  return from === undefined || from === 'human';
}

function resultsOf(messages: readonly Message[]): Map<string, string> {
  return new Map(
    messages.flatMap(({tool_call_id, content}) => (tool_call_id === undefined ? [] : [[tool_call_id, content ?? '']])),
  );
}

/** The call as the file has it now: `approval` and `started` come later. */
function latest(messages: readonly Message[], call: Call): Call {
  const all = messages.slice(-200).flatMap(({tool_calls = []}) => tool_calls);
  return all.find(({id}) => id === call.id) ?? call;
}

const keys = new WeakMap<Message, string>();

/** The same for a message to which the daemon has added its time. */
function keyOf(message: Message): string {
  let key = keys.get(message);
  if (key === undefined) {
    const {role, content, tool_call_id = '', tool_calls = []} = message;
    key = `${role}|${tool_call_id}|${tool_calls.map(({id}) => id).join(' ')}|${content ?? ''}`;
    keys.set(message, key);
  }
  return key;
}
