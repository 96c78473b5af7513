import {isDeepStrictEqual} from 'node:util';
import {activeCheckpoint, nextVersion, partsCall} from '../../../decide/context-versions.ts';
import {taintOf} from '../../../decide/taint.ts';
import {mayWork, nextAction, nextSessionAction, statusFor} from '../../../decide/turn.ts';
import {mentionedNames} from '../../../formats/mentions.ts';
import type {Session} from '../../../formats/session/session.ts';
import type {Message, SessionHeader, SessionStatus} from '../../../formats/session/session-schema.ts';
import type {Oddity, VersionStep} from './step.ts';

/** Keys that cannot be computed: times, ids, and facts from other files. */
const INPUTS: ReadonlySet<string> = new Set([
  'updated',
  'created',
  'segments',
  'tasks_due',
  'waiting_for',
  'ephemeral',
  'result_due',
]);

/** Reports header keys that the engine would have set differently. */
export function headerOddities(step: VersionStep, added: readonly number[]): Oddity[] {
  const {before, after, by} = step;
  const [was, is] = [before?.header ?? {}, after.header ?? {}] as [Partial<SessionHeader>, Partial<SessionHeader>];
  if (by.cause === 'segment') return [];
  const odd: Oddity[] = [];
  const say = (field: string, replayed: unknown, what: string) =>
    odd.push({at: undefined, field, what, recorded: text(is[field]), replayed: text(replayed)});
  const statuses = statusesFor(step, added);
  if (!statuses.has(is.status))
    say('status', [...statuses].map(text).join(' or '), `the status would be ${[...statuses].map(text).join(' or ')}`);
  const tainted = taintsFor(step);
  if (!tainted.some(sources => isDeepStrictEqual(sources, is.tainted ?? [])) && !inheritsTaint(step, tainted))
    say('tainted', tainted.at(-1), 'other sources from outside would be named');
  for (const key of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (key === 'status' || key === 'tainted' || INPUTS.has(key) || isDeepStrictEqual(was[key], is[key])) continue;
    if (key === 'mentions_due') mentions(step, added, say);
    else if (key === 'context') contextOddity(step, say);
    else if (key === 'result') resultOnce(step, say);
    else if (key === 'error') {
      if (is.error !== undefined && is.status !== 'error')
        say(key, undefined, 'only a session that failed has an error');
    } else filledIn(step, key, say);
  }
  return odd;
}

type Say = (field: string, replayed: unknown, what: string) => void;

/** Checks fields filled in from the file name and the template. */
function filledIn({before, after, path, template}: VersionStep, key: string, say: Say): void {
  const is = after.header?.[key];
  if (before === undefined) return;
  if (before.header?.[key] !== undefined) {
    say(key, before.header[key], `the daemon would not change ${key}`);
    return;
  }
  if (key === 'session_id') {
    const stem = path.slice(path.lastIndexOf('/') + 1).replace(/\.session\.yaml$/, '');
    if (is !== stem) say(key, stem, 'the id would be the name of the file');
    return;
  }
  const known = key === 'agent_type' || key === 'model' || key === 'system_prompt' ? template?.[key] : undefined;
  if (key !== 'agent_type' && key !== 'model' && key !== 'system_prompt')
    say(key, undefined, `the daemon would not write ${key}`);
  else if (known && !(known as ReadonlySet<unknown>).has(is))
    say(key, [...known].at(-1), `${key} would be taken from the template`);
}

/** Checks `mentions_due` against the final answer. Whether the agents exist is not in the session. */
function mentions({before, after, messages}: VersionStep, added: readonly number[], say: Say): void {
  const former = before?.header?.mentions_due ?? [];
  const named = new Set(added.flatMap(at => mentionedNames(messages[at]?.content ?? '')));
  const odd = (after.header?.mentions_due ?? []).filter(
    due =>
      !former.some(old => isDeepStrictEqual(old, due)) &&
      !named.has(due.to.split('@')[0] ?? due.to) &&
      !messages.some(({delivery, from}) => delivery === due.in_reply_to && from === `@${due.to}`),
  );
  if (odd.length > 0)
    say('mentions_due', former, `the answer neither names nor answers ${odd.map(({to}) => to).join(', ')}`);
}

/** The result of a task is written when the task ends, and never changes. */
function resultOnce({before, after, by}: VersionStep, say: Say): void {
  if (before?.header?.result !== undefined) say('result', before.header.result, 'the result of a task does not change');
  else if (by.cause !== 'result' || after.header?.kind !== 'task')
    say('result', undefined, 'only a session for a task has a result, when it ends');
}

/** The daemon adds one version, puts it in force, and removes the wish for it. It changes no version that there was. */
function contextOddity({before, after, by, messages}: VersionStep, say: Say): void {
  if (before === undefined) return;
  const [was, is] = [before.header?.context, after.header?.context];
  const former = was?.versions ?? [];
  const entry = is?.versions?.at(-1);
  const isKept = isDeepStrictEqual((is?.versions ?? []).slice(0, former.length), former);
  const added = (is?.versions?.length ?? 0) - former.length;
  const isNew =
    entry !== undefined && added > 0 && entry.version === is?.version && entry.version === nextVersion({context: was});
  const upto = activeCheckpoint({context: is})?.upto ?? 0;
  const isCut = upto > 0 && upto < messages.length && !partsCall(messages, upto);
  const isRefusal = added === 0 && is?.version === was?.version && is?.wanted === undefined;
  if (by.cause === 'compaction' && isKept && ((isNew && isCut) || isRefusal)) return;
  say(
    'context',
    was,
    by.cause === 'compaction' ? 'the checkpoint would be another' : 'the daemon would not change context',
  );
}

/** Whether the sources that are added may be those of the agent: that is not in the session. Nothing is taken away. */
function inheritsTaint({after, by}: VersionStep, tainted: readonly (readonly string[])[]): boolean {
  return by.cause === 'taint' && tainted.flat().every(source => after.header?.tainted?.includes(source));
}

/** Valid values of `tainted`: the former ones, or all sources now. */
function taintsFor({before, after, by}: VersionStep): (readonly string[])[] {
  const was = before?.header?.tainted ?? [];
  const {tainted: _, ...header} = (before?.header ?? after.header) as SessionHeader;
  const now = taintOf({
    header: {...header, ...(before?.header?.tainted && {tainted: was as string[]})},
    messages: after.messages,
  });
  return by.cause === 'call' || by.cause === 'delivery' || by.cause === 'taint' ? [now] : [was, now];
}

/** Valid statuses, by cause of the commit. */
function statusesFor(
  {before, after, by}: VersionStep,
  added: readonly number[],
): ReadonlySet<SessionStatus | undefined> {
  const was = before?.header?.status;
  const {header, messages} = after;
  const works = mayWork(before?.header);
  const next = nextAction(messages);
  const due = statusFor(next);
  const afterAnswer = next.do === 'rest' ? 'sleeping' : 'active';
  const failed: SessionStatus[] = header?.error === undefined ? [] : ['error'];
  const waits: SessionStatus[] = header?.waiting_for === undefined ? [] : ['waiting'];
  const resting = before ? [statusFor(nextSessionAction(before))] : [];
  switch (by.cause) {
    case 'turn':
      if (added.length > 0) return new Set([afterAnswer]);
      return new Set([...failed, ...(works ? resting : []), was]);
    case 'call':
      return new Set(works ? [due, was] : [was]);
    case 'delivery':
      return new Set([was === undefined || was === 'sleeping' ? 'active' : was]);
    case 'fill-in':
      return new Set([was, ...(works ? [due, ...resting, lastAsked(after)] : [])]);
    case 'result':
      return new Set([was, 'completed']);
    case 'taint':
    case 'mention':
    case 'compaction':
      return new Set([was]);
    case 'limit':
      return new Set([
        ...waits,
        ...(before?.header?.waiting_for === undefined ? [] : (['active', 'paused'] as const)),
        was,
      ]);
    case 'task':
      return new Set([was, ...(header?.ephemeral === false ? (['completed'] as const) : [])]);
    default:
      // After a crash, several steps at once.
      return new Set([
        was,
        due,
        afterAnswer,
        ...resting,
        ...failed,
        ...waits,
        statusFor(nextAction(beforeUnseen(messages))),
        'active',
        'paused',
        'completed',
      ]);
  }
}

/** Leaves out merged messages that the daemon has not processed: they have no time yet. */
function beforeUnseen(messages: readonly Message[]): readonly Message[] {
  const seen = messages.findLastIndex(({role, timestamp}) => role !== 'user' || timestamp !== undefined);
  return messages.slice(0, seen + 1);
}

/** Without a template, nothing is to be done. */
function lastAsked({messages}: Session): SessionStatus {
  return messages.at(-1)?.role === 'user' ? 'active' : 'sleeping';
}

function text(value: unknown): string {
  return value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
}
