import type {Message} from '../formats/session/session-schema.ts';
import {SettledPrefix} from '../formats/session/settled-prefix.ts';
import {grouped} from '../formats/session/spent.ts';
import {asData, senderOf} from './history.ts';

/** Facts of other files about a session's current work. */
export interface Standing {
  /** Requests that wait for a person. */
  approvals: readonly {id: string; title: string}[];
  /** Sessions that work on tasks for this one. */
  children: readonly {session: string; agent: string; status: string}[];
}

interface Marks {
  /** Indexes of pinned messages. */
  pins: number[];
  /** Index of the last message from the person, and from anybody; -1 if none. */
  person: number;
  user: number;
  /** Sessions that calls of the tool `task` have begun. */
  children: Set<string>;
}

const settled = new SettledPrefix<Marks>(
  () => ({pins: [], person: -1, user: -1, children: new Set()}),
  (marks, message, index) => addMarks(marks, message, index),
);

function addMarks(marks: Marks, message: Message, index: number): void {
  if (message.pin === true) marks.pins.push(index);
  if (message.role === 'user' && message.from !== 'system') {
    marks.user = index;
    if ((message.from ?? 'human') === 'human') marks.person = index;
  }
  for (const {child} of message.tool_calls ?? []) if (child !== undefined) marks.children.add(child);
}

function marksIn(messages: readonly Message[]): Marks {
  const {state, count} = settled.of(messages);
  const marks: Marks = {...state, pins: [...state.pins], children: new Set(state.children)};
  for (let i = count; i < messages.length; i++) addMarks(marks, messages[i] as Message, i);
  return marks;
}

/** Ids of the sessions that work, or have worked, on tasks for this one. */
export function childSessions(messages: readonly Message[]): ReadonlySet<string> {
  return marksIn(messages).children;
}

/** How much of a message is repeated, in characters. Pinned messages are repeated whole. */
const MOST_REPEATED = 6_000;

/** Parts of the request that a checkpoint must not lose: pins, last instructions, pending approvals, running children. */
export function standingText(messages: readonly Message[], upto: number, {approvals, children}: Standing): string {
  const {pins, person, user} = marksIn(messages);
  const older = pins.filter(index => index < upto);
  const last = [...new Set([user, person])].filter(index => index !== -1 && index < upto && !older.includes(index));
  const repeated = (index: number, most = Number.POSITIVE_INFINITY) =>
    repeatedMessage(messages[index] as Message, index + 1, most);
  const parts = [
    section(
      'Pinned messages',
      older.map(index => repeated(index)),
    ),
    section(
      'The last instructions',
      last.sort((a, b) => a - b).map(index => repeated(index, MOST_REPEATED)),
    ),
    section(
      'Waiting for the approval of a person',
      approvals.map(({id, title}) => `- ${id}: ${title}`),
    ),
    section(
      'Working for you',
      children.map(({session, agent, status}) => `- @${agent} in ${session}: ${status}`),
    ),
  ];
  return parts.filter(Boolean).join('\n\n');
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `## ${title}\n${lines.join('\n')}`;
}

function repeatedMessage(message: Message, number: number, most: number): string {
  const {role, content} = message;
  const text = content ?? '';
  const shown =
    text.length <= most
      ? text
      : `${text.slice(0, most / 2)}\n… ${grouped(text.length - most)} characters are left out: recall {"from": ${number}, "to": ${number}} …\n${text.slice(-most / 2)}`;
  const {name, untrusted} = senderOf(message);
  const title = `Message ${number} (${role === 'user' ? name : role.replace('_', ' ')})`;
  return untrusted || role === 'tool_result' ? asData(title, shown) : `${title}:\n${shown}`;
}
