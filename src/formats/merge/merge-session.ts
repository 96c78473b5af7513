import {isDeepStrictEqual} from 'node:util';
import {hasErrors} from '../common/diagnostic.ts';
import {UserError} from '../common/errors.ts';
import {lineEnd} from '../common/lines.ts';
import {isMap} from '../common/values.ts';
import {type CutSessionText, cutText, parseSession} from '../session/session.ts';
import {messageSchema} from '../session/session-schema.ts';
import {validateValue} from '../yaml/validate.ts';
import {readYaml} from '../yaml/yaml-source.ts';
import {indentLines, yamlText} from '../yaml/yaml-text.ts';
import {mergeHeads, throwOnErrors} from './merge-header.ts';
import type {MergeResult} from './merge-lines.ts';
import {mergeMessage} from './merge-message.ts';
import {valueChanges} from './merge-values.ts';
import {type MessagePart, matchMessages, messageIdentity} from './message-match.ts';

/** Longer results are checked only where they changed: a whole parse takes half a second for 10 MB. */
const SHORT = 1_000_000;

/** Undefined if a merge by messages is impossible. Throws if an edit is refused. */
export function mergeSessions(base: string, person: string, daemon: string): MergeResult | undefined {
  const [b, p, d] = [cutText(base), cutText(person), cutText(daemon)];
  if (!b || !p || !d) return undefined;
  const conflicts: string[] = [];
  const {head, foot} = mergeHeads(b, p, d, conflicts);
  const body = mergeBodies(b, p, d, conflicts);
  const text = head + body + (foot !== '' && !body.endsWith('\n') ? lineEnd(person) : '') + foot;
  if (text.length < SHORT && hasErrors(parseSession(text).problems)) return undefined;
  return {text, conflicts};
}

/** Messages with equal lines share a part and are parsed at most once. */
function partsOf(cut: CutSessionText, known: Map<string, MessagePart>): MessagePart[] {
  return cut.items.map(text => {
    const part = known.get(text) ?? partOf(text);
    known.set(text, part);
    return part;
  });
}

function partOf(text: string): MessagePart {
  let value: Record<string, unknown> | undefined;
  return {
    text,
    value() {
      value ??= readPart(text);
      return value;
    },
  };
}

function readPart(text: string): Record<string, unknown> {
  const {value, problems, linked} = readYaml(text);
  const message = Array.isArray(value) && value.length === 1 ? value[0] : undefined;
  if (problems.length > 0 || linked || !isMap(message)) throw new UserError('a message has errors');
  throwOnErrors(validateValue(messageSchema, message, () => ({line: 1, column: 1}), '', 'nothing').problems);
  return message;
}

function mergeBodies(bCut: CutSessionText, pCut: CutSessionText, dCut: CutSessionText, conflicts: string[]): string {
  if (pCut.body === bCut.body) return dCut.body;
  if (dCut.body === bCut.body) return pCut.body;
  const known = new Map<string, MessagePart>();
  const [b, p, d] = [partsOf(bCut, known), partsOf(pCut, known), partsOf(dCut, known)];
  const toDaemon = matchMessages(b, d);
  const toPerson = matchMessages(b, p);
  for (const [side, match] of [
    [p, toPerson],
    [d, toDaemon],
  ] as const)
    for (const [j, part] of side.entries()) if (b[match.from[j] as number] !== part) part.value();
  const style = {eol: lineEnd(pCut.head), lead: leadOf(pCut.items[0] ?? '')};
  const results = newResults(d, toDaemon.from);
  const twins = twinsOf(p, toPerson.from, d, toDaemon.from);
  /** New text of each of the person's messages; undefined: removed. */
  const texts: (string | undefined)[] = p.map(part => part.text);
  /** Messages to insert below each message; at 0 above all. */
  const added: string[][] = [];
  const addBelow = (index: number, part: MessagePart) => {
    added[index + 1] ??= [];
    added[index + 1]?.push(restyled(part, style));
  };
  let at = -1;
  for (const [j, part] of d.entries()) {
    const was = b[toDaemon.from[j] as number];
    const index = was ? (toPerson.to[toDaemon.from[j] as number] as number) : (twins.get(j) ?? -1);
    const own = p[index];
    if (own) {
      at = index;
      if (!was && own.text.trimEnd() !== part.text.trimEnd()) {
        if (!isTaken(own, part)) conflicts.push(`message ${index + 1} was written on both sides; the daemon's stays`);
        texts[index] = restyled(part, style);
      } else if (was && part !== was)
        texts[index] = mergeMessage(was, own, part, results, words => conflicts.push(`message ${index + 1}: ${words}`));
      else if (was && own !== was && results.size > 0)
        texts[index] = mergeMessage(was, own, was, results, words => conflicts.push(`message ${index + 1}: ${words}`));
    } else if (!was) addBelow(at, part);
    else if (isNeeded(was, part, results)) {
      conflicts.push(`a message was deleted, but its calls were worked on meanwhile; it is back`);
      addBelow(at, part);
    } else if (part.text.trimEnd() !== was.text.trimEnd() && !onlyFilledIn(was, part))
      conflicts.push('a message was deleted that the daemon had changed; it stays deleted');
  }
  for (const [i, part] of b.entries()) {
    const index = toPerson.to[i] as number;
    if (toDaemon.to[i] !== -1 || index === -1) continue;
    if (p[index]?.text.trimEnd() === part.text.trimEnd()) texts[index] = undefined;
    else conflicts.push(`message ${index + 1} was edited, but it had been moved away; yours is kept`);
  }
  return joined(texts, added, style.eol);
}

/** Calls whose results the daemon added. */
function newResults(d: readonly MessagePart[], from: Int32Array): Set<string> {
  const ids = new Set<string>();
  for (const [j, part] of d.entries()) {
    if (from[j] !== -1) continue;
    const {tool_call_id: id} = part.value();
    if (typeof id === 'string') ids.add(id);
  }
  return ids;
}

/** New messages that both sides have: the person's text is based on a version with these. */
function twinsOf(
  p: readonly MessagePart[],
  pFrom: Int32Array,
  d: readonly MessagePart[],
  dFrom: Int32Array,
): Map<number, number> {
  const twins = new Map<number, number>();
  const own = new Map<string, number>();
  const keysOf = (part: MessagePart) => [messageIdentity(part), part.text.trimEnd()].filter(key => key !== undefined);
  for (const [i, part] of p.entries())
    if (pFrom[i] === -1) for (const key of keysOf(part)) if (!own.has(key)) own.set(key, i);
  for (const [j, part] of d.entries()) {
    if (dFrom[j] !== -1) continue;
    const index = keysOf(part)
      .map(key => own.get(key))
      .find(found => found !== undefined);
    if (index === undefined) continue;
    twins.set(j, index);
    for (const key of keysOf(p[index] as MessagePart)) own.delete(key);
  }
  addTaken(twins, p, pFrom, d, dFrom);
  return twins;
}

/** Add messages of the person that the daemon has accepted since, each once, in order. */
function addTaken(
  twins: Map<number, number>,
  p: readonly MessagePart[],
  pFrom: Int32Array,
  d: readonly MessagePart[],
  dFrom: Int32Array,
): void {
  const used = new Set(twins.values());
  const isNew = (from: Int32Array, part: MessagePart, i: number) => from[i] === -1 && part.value().role === 'user';
  let at = 0;
  for (const [j, part] of d.entries()) {
    if (twins.has(j) || !isNew(dFrom, part, j) || part.value().from !== 'human') continue;
    const index = p.findIndex((own, i) => i >= at && !used.has(i) && isNew(pFrom, own, i) && isTaken(own, part));
    if (index === -1) continue;
    twins.set(j, index);
    at = index + 1;
  }
}

/** The daemon's message is the person's with missing keys filled in. */
function isTaken(own: MessagePart, part: MessagePart): boolean {
  return (
    isDeepStrictEqual(own.value().content, part.value().content) &&
    messageIdentity(part) === undefined &&
    onlyFilledIn(own, part)
  );
}

/** Whether a call of the message was started, or got its result. */
function isNeeded(was: MessagePart, now: MessagePart, results: ReadonlySet<string>): boolean {
  if (was.text === now.text && ![...results].some(id => now.text.includes(id))) return false;
  const started = (part: MessagePart) => callsOf(part).filter(call => call.started !== undefined).length;
  return started(now) > started(was) || callsOf(now).some(call => results.has(String(call.id)));
}

function callsOf(part: MessagePart): Record<string, unknown>[] {
  const {tool_calls: calls} = part.value();
  return Array.isArray(calls) ? calls.filter(isMap) : [];
}

function onlyFilledIn(was: MessagePart, now: MessagePart): boolean {
  return valueChanges(was.value(), now.value()).every(change => change.was === undefined && change.path.length === 1);
}

function leadOf(item: string): string {
  return item.slice(0, item.indexOf('-'));
}

/** Format a message of the daemon as in the person's file. */
function restyled(part: MessagePart, {eol, lead}: {eol: string; lead: string}): string {
  const from = leadOf(part.text);
  const ended = part.text.endsWith('\n') ? part.text : `${part.text}\n`;
  const lines = ended.split(/\r?\n/).map(line => (line.startsWith(from) ? lead + line.slice(from.length) : line));
  const last = lines.length - 1;
  const text = lines.map((line, i) => (i === last && line.trim() === '' ? '' : line)).join(eol);
  const read = readYaml(text).value;
  if (Array.isArray(read) && isDeepStrictEqual(read[0], part.value())) return text;
  return indentLines(yamlText([part.value()]), lead, eol);
}

function joined(
  texts: readonly (string | undefined)[],
  added: readonly (readonly string[] | undefined)[],
  eol: string,
): string {
  const out: string[] = [];
  const put = (text: string) => {
    const last = out.at(-1);
    out.push(last === undefined || last.endsWith('\n') ? text : eol + text);
  };
  for (const text of added[0] ?? []) put(text);
  for (const [i, text] of texts.entries()) {
    if (text !== undefined) put(text);
    for (const more of added[i + 1] ?? []) put(more);
  }
  return out.join('');
}
