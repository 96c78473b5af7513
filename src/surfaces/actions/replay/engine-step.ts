import {CONTINUE_PROMPT, mayContinue, nextAction} from '../../../decide/turn.ts';
import type {Call, Message} from '../../../formats/session/session-schema.ts';
import {effectOf} from '../verify/verdict-of.ts';
import {isRecordedMessage, type MessageEntry, printOf} from './entry.ts';
import {headerOddities} from './header-step.ts';
import type {Ledger} from './ledger.ts';
import {keepEntry} from './match-entries.ts';
import type {Oddity, StepResult, VersionStep} from './step.ts';

/**
 * Repeats a step of the daemon between two versions, with recorded answers, results, messages and ids. Undefined if
 * former messages changed, so that this was no such step.
 */
export function replayStep(step: VersionStep, ledger: Ledger): StepResult | undefined {
  const {by, path, entries: before, messages, settled} = step;
  const entries: (MessageEntry | undefined)[] = before.slice(0, settled);
  const added: number[] = [];
  let next = settled;
  for (let at = settled; at < messages.length; at++) {
    const message = messages[at] as Message;
    const was = before[next];
    if (was && (was.message === message || was.print === printOf(message))) {
      entries.push(keepEntry(was, message));
      next++;
      continue;
    }
    entries.push(undefined);
    added.push(at);
  }
  if (next < before.length) return undefined;
  for (const at of added) {
    const message = messages[at] as Message;
    const origin = ledger.record(message, {by, path, at, print: printOf(message)});
    entries[at] = {message, print: origin.print, origin, edits: []};
  }
  const all = entries as MessageEntry[];
  const lastResult = messages.findLastIndex(({role}) => role === 'tool_result');
  const oddities = [
    ...added.flatMap(at => placeOddity(messages, at, lastResult) ?? []),
    ...callOddities(step, all),
    ...headerOddities(step, added),
  ];
  return {entries: all, oddities, added};
}

/** Checks one new message. */
function placeOddity(messages: readonly Message[], at: number, lastResult: number): Oddity | undefined {
  const message = messages[at] as Message;
  if (message.role === 'user') return goOnOddity(messages, at) ?? queueOddity(messages, at, lastResult);
  const above = messages.slice(0, at);
  const next = nextAction(above);
  const odd = (what: string, recorded: string, replayed: string): Oddity => ({
    at,
    field: 'role',
    what,
    recorded,
    replayed,
  });
  if (message.role === 'assistant') {
    if (next.do !== 'ask') return odd('an answer stands where the model would not be asked', 'asked', wordsFor(next));
    const isCut = message.cut === true && !message.tool_calls?.length && mayContinue(above);
    if (!isCut || messages[at + 1]?.content === CONTINUE_PROMPT) return undefined;
    return odd('an answer that was cut off would be gone on with', 'nothing', CONTINUE_PROMPT);
  }
  if (message.role === 'tool_result') {
    const id = message.tool_call_id ?? '';
    const open = next.do === 'call' ? next.open : undefined;
    const isOpen = open?.calls.some(call => call.id === id) === true;
    const inPlace = open && above.slice(open.index + 1).every(({role}) => role === 'tool_result');
    if (isOpen && inPlace) return undefined;
    return odd(`a result of ${id} stands where no result of it is due`, `result of ${id}`, wordsFor(next));
  }
  return odd('the daemon writes no system messages', 'system', 'none');
}

/** Checks the continuation of an answer that was cut off. */
function goOnOddity(messages: readonly Message[], at: number): Oddity | undefined {
  const {from, content, delivery} = messages[at] as Message;
  if (from !== 'system' || delivery !== undefined) return undefined;
  const answer = messages[at - 1];
  const due = answer?.cut === true && !answer.tool_calls?.length && mayContinue(messages.slice(0, at - 1));
  if (due && content === CONTINUE_PROMPT) return undefined;
  return {
    at,
    field: 'content',
    what: due ? 'an answer that was cut off would be gone on with in other words' : 'nothing would be said here',
    recorded: content ?? '',
    replayed: due ? CONTINUE_PROMPT : 'nothing',
  };
}

/** Checks that a delivered message is not between calls and their results. */
function queueOddity(messages: readonly Message[], at: number, lastResult: number): Oddity | undefined {
  if (at > lastResult) return undefined;
  const below = messages.findIndex((message, place) => place > at && isRecordedMessage(message));
  // Its answer may be part of the same step.
  if (below === -1 || messages[below]?.role === 'assistant') return undefined;
  const what = 'a message was put between calls and their results';
  return {at, field: 'role', what, recorded: `above message ${below + 1}`, replayed: 'below the results'};
}

function wordsFor(next: ReturnType<typeof nextAction>): string {
  if (next.do !== 'call') return next.do === 'ask' ? 'the model is to be asked' : 'nothing is to be done';
  return `results are due of ${next.open.calls.map(({id}) => id).join(', ')}`;
}

/** Marks of calls are set once, by the daemon, on calls that have no result yet. */
function callOddities({entries: before, settled}: VersionStep, entries: readonly MessageEntry[]): Oddity[] {
  const former = new Map(before.slice(settled).map(({origin, message}) => [origin, message]));
  const results = new Set(before.slice(settled).map(({message}) => message.tool_call_id));
  const odd: Oddity[] = [];
  for (const [place, {origin, message}] of entries.slice(settled).entries()) {
    const at = settled + place;
    const was = former.get(origin);
    if (!was || was === message || !message.tool_calls) continue;
    for (const [i, call] of message.tool_calls.entries()) {
      const {started, approval, run} = was.tool_calls?.[i] ?? {};
      const isAgain = started !== undefined && call.started !== undefined && isRepeatable(call);
      if (isAgain) continue;
      if (call.started !== started && started !== undefined && call.approval === approval)
        odd.push(oddMark(at, call, 'started', started, 'a call that was started would not be started again'));
      else if (call.started !== started && started === undefined && results.has(call.id))
        odd.push(oddMark(at, call, 'started', '', 'a call that has its result would not be started'));
      else if (approval !== undefined && call.approval === undefined)
        odd.push(oddMark(at, call, 'approval', approval, 'the daemon would not take away what a call waits for'));
      else if (call.started === started && run !== call.run)
        odd.push(oddMark(at, call, 'run', run ?? '', 'the daemon would not change by which run a call was started'));
    }
  }
  return odd;
}

/** Calls that are safe to repeat after a crash. */
function isRepeatable({function: {name}}: Call): boolean {
  const effect = effectOf(name);
  return effect === 'read' || effect === 'deliver';
}

function oddMark(at: number, call: Call, field: 'started' | 'approval' | 'run', was: string, what: string): Oddity {
  return {at, call, field, what, recorded: call[field] ?? 'none', replayed: was || 'none'};
}
