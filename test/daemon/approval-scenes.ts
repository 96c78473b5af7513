import {existsSync, readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {expect} from 'vitest';
import type {ApprovalItem} from '../../src/formats/approval/approval-item.ts';
import type {Call} from '../../src/formats/session/session-schema.ts';
import {type FakeOpenAI, startFakeOpenAI} from '../model/fake-openai.mjs';
import {decideInQueue, decideOnPage, itemsOf, pagesIn} from './deciding.ts';
import {read} from './serve.ts';
import {leastForm, pathOf, sessionOf} from './talk.ts';

/** A call that counts its runs, and what a person says to it. */
export interface Scene {
  call: (id: string) => {name: string; arguments: Record<string, unknown>};
  decide: (home: string, item: ApprovalItem) => void;
  /** How it ends if nobody is killed; undefined: well. */
  ends?: 'REJECTED' | 'EXPIRED';
  /** It is not asked about the first time. */
  allowed?: true;
}

const command = (text: string) => ({name: 'execute_command', arguments: {command: text}});
const counting = (id: string) => command(`mktemp ran-${id}.XXXXXX`);
const tick: Scene['decide'] = (home, {id}) => decideInQueue(home, id, 'x');

export const scenes = {
  ticked: {call: counting, decide: tick},
  'on its page': {call: counting, decide: (home, {id}) => decideOnPage(home, id, {decision: 'APPROVED', by: 'Ada'})},
  edited: {
    call: id => command(`mktemp not-${id}.XXXXXX`),
    decide: (home, {id, command: text = ''}) =>
      decideInQueue(home, id, 'x', {command: text.replace('mktemp not-', 'mktemp ran-')}),
  },
  always: {call: counting, decide: (home, {id}) => decideInQueue(home, id, 'x', {always: 'true'})},
  rejected: {
    call: counting,
    decide: (home, {id}) => decideInQueue(home, id, '-', {rejection_reason: 'not now'}),
    ends: 'REJECTED',
  },
  expired: {
    call: counting,
    decide: (home, {id}) => decideInQueue(home, id, '_', {expires: '2026-01-01T00:00:00.000Z'}),
    ends: 'EXPIRED',
  },
  'a file': {
    call: id => ({name: 'write_file', arguments: {path: `ran-${id}.txt`, content: `${id}\n`}}),
    decide: tick,
  },
  'a file, edited': {
    call: id => ({name: 'write_file', arguments: {path: `ran-${id}.txt`, content: `not ${id}\n`}}),
    decide: (home, {id}) => decideOnPage(home, id, {decision: 'APPROVED'}, text => text.replace('\nnot ', '\n')),
  },
  'a note': {call: id => ({name: 'remember', arguments: {file: `ran-${id}`, text: `noted ${id}`}}), decide: tick},
  allowed: {call: id => command(`mktemp auto-${id}.XXXXXX`), decide: tick, allowed: true},
} satisfies Record<string, Scene>;
export type SceneName = keyof typeof scenes;

/** Approved commands that leave a file of their own each time they run. */
export const countingScenes: readonly SceneName[] = ['ticked', 'on its page', 'edited', 'always'];

export const ASKER = {
  'templates/asker.agent.yaml':
    'id: asker\ntype: asker\nmodel: fake-1\nsystem_prompt: You ask.\ncapabilities: [execute_command, write_file, remember]\n',
  'allowlist.yaml': 'version: 1\ncommands: {allow: ["mktemp auto-*"]}\n',
};

export const questionFor = (id: string, scene: SceneName): string => leastForm(`${id}/${scene}`, 'asker');

/** A model that makes the call of its scene, and the very same again as long as it was interrupted. */
export async function persistent(): Promise<FakeOpenAI> {
  return startFakeOpenAI({
    keep: false,
    answer: ({messages}, n) => {
      const [id = '', name = ''] = (messages.find(({role}) => role === 'user')?.content ?? '').split('/');
      const last = messages.at(-1);
      const again = last?.role !== 'tool' || last.content?.includes('"INTERRUPTED"');
      return again ? {calls: [{id: `call_${n}`, ...scenes[name as SceneName].call(id)}]} : {text: 'done'};
    },
  });
}

/** Decide, as the scene has it, what waits for this session and is not decided yet. */
export function decideFor(home: string, id: string, scene: SceneName): void {
  for (const item of itemsOf(home))
    if (item.session === id && item.status === 'pending' && item.decision === undefined && isOpen(home, item))
      scenes[scene].decide(home, item);
}

/** Both places are there, and nothing was said on the page. */
function isOpen(home: string, {id, expires = ''}: ApprovalItem): boolean {
  const page = read(home, `approvals/pending/${id}.approval.md`);
  return page !== '' && !/\*\*Decision:\*\* \w/.test(page) && !expires.startsWith('2026-01-01');
}

/** Whether all is over: the session, its requests in the queue, and their pages. */
export function isOver(home: string, id: string): boolean {
  const {header, messages} = sessionOf(home, id);
  if (header?.status !== 'sleeping' || messages.at(-1)?.role !== 'assistant') return false;
  const own = itemsOf(home).filter(({session}) => session === id);
  const pending = pagesIn(home, 'pending');
  return own.every(
    ({id: item, status, outcome}) =>
      status !== 'pending' && (status === 'rejected' || outcome !== undefined) && !pending.includes(item ?? ''),
  );
}

/** Once or ask: what must hold of such a session however often the daemon was killed. */
export function expectOnce(home: string, id: string, scene: SceneName): void {
  expect(wrongsOf(home, id, scene), `${id} ${scene}\n${read(home, pathOf(id))}`).toEqual([]);
}

function wrongsOf(home: string, id: string, name: SceneName): string[] {
  const scene: Scene = scenes[name];
  const {messages} = sessionOf(home, id);
  const calls = messages.flatMap(({tool_calls = []}) => tool_calls);
  const results = calls.map(call => messages.filter(({tool_call_id}) => tool_call_id === call.id));
  const wrong: string[] = [];
  const codes = results.map(([first, ...more], i) => {
    if (!first || more.length > 0) wrong.push(`${calls[i]?.id} has ${more.length + (first ? 1 : 0)} results`);
    const {success, code} = JSON.parse(first?.content ?? '{}') as {success?: boolean; code?: string};
    return success ? undefined : (code ?? 'none');
  });
  for (const code of codes.slice(0, -1)) if (code !== 'INTERRUPTED') wrong.push(`called again after ${code}`);
  if (codes.at(-1) !== scene.ends) wrong.push(`ended with ${codes.at(-1)}`);
  const runs = runsOf(home, id);
  const [least, most] = [codes.filter(code => code === undefined).length, calls.length - (scene.ends ? 1 : 0)];
  // A file written twice is one file.
  if (runs < Math.min(least, 1) || runs > most) wrong.push(`was run ${runs} times`);
  if (countingScenes.includes(name)) wrong.push(...wrongRuns(home, id, calls, codes));
  for (const [i, call] of calls.entries())
    wrong.push(...wrongCall(home, call, {scene, first: i === 0, code: codes[i]}));
  const all = itemsOf(home).filter(({session}) => session === id);
  for (const {id: item, status, call} of all)
    if (status !== 'superseded' && !calls.some(({approval}) => approval === item))
      wrong.push(`${item} of ${call} is nobody's`);
  return wrong;
}

/** Each run is of the last call that was started before it: of each there is one at most, and one if it ended well. */
function wrongRuns(home: string, id: string, calls: readonly Call[], codes: readonly (string | undefined)[]): string[] {
  const folder = join(home, 'workspaces/asker');
  const names = existsSync(folder) ? readdirSync(folder).filter(name => name.startsWith(`ran-${id}.`)) : [];
  const times = names.map(name => statSync(join(folder, name)).mtimeMs);
  const starts = calls.map(({started}) => (started === undefined ? Number.NaN : Date.parse(started)));
  const runs = calls.map(() => 0);
  for (const time of times) {
    const of = starts.findLastIndex(start => start <= time);
    if (of < 0) return [`a run from before ${calls[0]?.id} was started`];
    runs[of] = (runs[of] ?? 0) + 1;
  }
  return calls.flatMap(({id: call}, i) =>
    runs[i] === 1 || (runs[i] === 0 && codes[i] !== undefined) ? [] : [`${call} was run ${runs[i]} times`],
  );
}

/** A call, the item that was decided for it, and the page. */
function wrongCall(
  home: string,
  {id, approval}: Call,
  {scene, first, code}: {scene: Scene; first: boolean; code: string | undefined},
): string[] {
  if (approval === undefined) return scene.allowed && first ? [] : [`${id} was not asked about`];
  const items = itemsOf(home).filter(item => item.id === approval);
  const [item] = items;
  if (!item || items.length > 1) return [`${items.length} items ${approval}`];
  const wrong: string[] = [];
  const wanted = code === 'REJECTED' ? 'rejected' : code === 'EXPIRED' ? 'expired' : 'approved';
  if (item.status !== wanted) wrong.push(`${approval} is ${item.status}: ${item.outcome}`);
  if (item.decision !== (wanted === 'approved' ? 'approved' : 'rejected')) wrong.push(`the box is ${item.task.box}`);
  if ((item.type === 'retry') === first) wrong.push(`${approval} is a ${item.type}`);
  if (item.outcome === undefined && wanted !== 'rejected') wrong.push(`${approval} has no outcome`);
  if (wanted === 'approved' && !item.outcome?.startsWith(code === undefined ? 'done' : 'INTERRUPTED'))
    wrong.push(`${approval}: ${item.outcome}`);
  const folders = (['pending', 'approved', 'rejected'] as const).filter(name => pagesIn(home, name).includes(approval));
  if (folders.join() !== (wanted === 'approved' ? 'approved' : 'rejected'))
    wrong.push(`its page is in ${folders.join(' and ')}`);
  return wrong;
}

/** How often it left something behind. */
function runsOf(home: string, id: string): number {
  const folder = join(home, 'workspaces/asker');
  const made = existsSync(folder) ? readdirSync(folder).filter(name => /^(?:ran|not|auto)-/.test(name)) : [];
  expect(made.filter(name => name.startsWith('not-'))).toEqual([]);
  for (const name of made.filter(each => each === `ran-${id}.txt`))
    expect(read(folder, name), 'as it was edited').toBe(`${id}\n`);
  const notes = read(home, `memory/ran-${id}.md`).split(`noted ${id}\n`).length - 1;
  return notes + made.filter(name => name.split('.')[0]?.slice(name.indexOf('-') + 1) === id).length;
}
