import {exit} from '../../formats/common/errors.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import type {Run} from '../../formats/run.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import {instanceMeant} from '../actions/instances/instances.ts';
import {
  appendToDocument,
  type ChannelView,
  readChannel,
  readDocument,
  readUnread,
  sendToChannel,
} from '../actions/workflows/channel.ts';
import {colors, note, print, printJson, printWhole} from '../terminal/output.ts';
import {givenTexts, reportReplaced} from './given-text.ts';

export interface ContextOptions {
  home: string;
  instance: string | undefined;
  json: boolean;
}

export async function contextSendCommand({
  home,
  instance,
  words,
  as,
  json,
}: ContextOptions & {words: readonly string[]; as: string | undefined}): Promise<number> {
  const run = instanceMeant(home, instance);
  const {texts, replaced} = givenTexts(home, {message: words.length === 0 ? '-' : words.join(' ')});
  const sent = await sendToChannel(home, run.instance, {text: texts.message ?? '', as});
  reportReplaced(replaced);
  if (json) printJson({instance: run.instance, ...sent});
  else {
    const wakes = sent.wakes.length > 0 ? `; it wakes ${sent.wakes.map(name => `@${name}`).join(', ')}` : '';
    print(`${colors.green('sent')} to the channel of ${colors.bold(run.instance)}, entry ${sent.n}${wakes}`);
  }
  for (const name of sent.unknown) note(`@${name} is no agent of ${run.instance}, and wakes nobody`);
  if (sent.wakes.length > 0) tellWhyNot(home, run);
  return exit.done;
}

/** Explains why nobody answers yet. */
function tellWhyNot(home: string, {status, instance}: Run): void {
  if (status === 'stopped') note(`${instance} is stopped. To continue: agentdir start @${instance}`);
  else if (!daemonOf(nodeDisk(home))) note('no daemon is running. To get an answer: agentdir start');
}

export async function contextReadCommand({
  home,
  instance,
  as = 'human',
  json,
}: ContextOptions & {as: string | undefined}): Promise<number> {
  const run = instanceMeant(home, instance);
  return showChannel(await readUnread(home, run.instance, as), json, 'nothing new');
}

export interface ContextPeekOptions extends ContextOptions {
  since: string | undefined;
  limit: number | undefined;
}

export function contextPeekCommand({home, instance, since, limit, json}: ContextPeekOptions): number {
  const run = instanceMeant(home, instance);
  return showChannel(readChannel(home, run.instance, {since, limit}), json, 'no entries');
}

function showChannel({instance, path, entries, problems}: ChannelView, json: boolean, none: string): number {
  if (json) printJson({instance, path, entries});
  else if (entries.length === 0) print(none);
  else printWhole(entries.map(entryText).join('\n\n'));
  for (const {line, message, hint} of json ? [] : problems)
    note(`${path ?? instance}:${line}: ${message}${hint ? `; ${hint}` : ''}`);
  return exit.done;
}

/** An entry for people. Its text is indented, so that no line of it passes for another entry. */
export function entryText({time, from, text}: {time: string; from: string; text: string}): string {
  const lines = makeVisible(text, false).split('\n');
  return [`${colors.dim(visibleLine(time))} ${colors.bold(visibleLine(from))}`, ...lines.map(line => `  ${line}`)]
    .map(line => line.trimEnd())
    .join('\n');
}

export async function contextDocumentCommand({
  home,
  instance,
  append,
  json,
}: ContextOptions & {append: string | undefined}): Promise<number> {
  const run = instanceMeant(home, instance);
  if (append !== undefined) {
    const {texts, replaced} = givenTexts(home, {text: append});
    await appendToDocument(home, run.instance, texts.text ?? '');
    reportReplaced(replaced);
  }
  const {path, text} = readDocument(home, run.instance);
  if (json) printJson({instance: run.instance, path, content: text});
  else if (append !== undefined) print(`${colors.green('added')} to ${path}`);
  else if (text === '') print('the document is empty');
  else printWhole(makeVisible(text.trimEnd(), false));
  return exit.done;
}
