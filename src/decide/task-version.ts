import {createHash} from 'node:crypto';
import {fieldOf, type Note, type Task} from '../formats/task/task.ts';

/** What an agent was told of its task: the field `informed: CHANGES CONTENT NOTES`. */
interface Informed {
  /** How many changes it was told of. */
  changes: number;
  content: string;
  notes: string;
}

/** A change of a task that the agent holding it has not been told of. */
export interface UntoldChange {
  /** Value of `informed` once it is told. */
  informed: string;
  content: boolean;
  /** New notes, by others than the agent. */
  notes: readonly Note[];
}

/** Fields whose change the agent is told of. */
const CONTENT = ['prompt', 'description', 'reason', 'due', 'notes'] as const;

/** Value of `informed` for a task as it is now. */
export function informedNow(task: Task, agent: string): string {
  return textOf({changes: informedIn(task)?.changes ?? 0, content: contentHash(task), notes: notesHash(task, agent)});
}

/** Value of `informed` for a task whose agent was told of another version, nobody knows which. */
export function informedOfUnknown(): string {
  return textOf({changes: 0, content: 'unknown', notes: 'unknown'});
}

/** The change that `agent` has to be told of; undefined if there is none. Its own notes are no change. */
export function untoldChange(task: Task, agent: string): UntoldChange | undefined {
  const told = informedIn(task);
  if (!told) return undefined;
  const [content, notes] = [contentHash(task), notesHash(task, agent)];
  if (told.content === content && told.notes === notes) return undefined;
  return {
    informed: textOf({changes: told.changes + 1, content, notes}),
    content: told.content !== content,
    notes: told.notes === notes ? [] : newNotes(task, agent, told.notes),
  };
}

/** Value of `informed` after the agent itself changed these fields; undefined: the same, or others changed something before. */
export function informedAfterOwn(
  task: Task,
  agent: string,
  fields: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const told = informedIn(task);
  if (!told || untoldChange(task, agent)) return undefined;
  const content = contentHash(task, fields);
  return content === told.content ? undefined : textOf({...told, content});
}

function informedIn(task: Task): Informed | undefined {
  const [, changes, content, notes] = /^(\d{1,9}) (\w+) (\w+)$/.exec(fieldOf(task, 'informed') ?? '') ?? [];
  if (changes === undefined || content === undefined || notes === undefined) return undefined;
  return {changes: Number(changes), content, notes};
}

function textOf({changes, content, notes}: Informed): string {
  return `${changes} ${content} ${notes}`;
}

function contentHash(task: Task, changed: Readonly<Record<string, string | undefined>> = {}): string {
  const value = (key: string) => (Object.hasOwn(changed, key) ? changed[key] : fieldOf(task, key)) ?? null;
  return hashOf([task.title, ...CONTENT.map(value)]);
}

function notesHash(task: Task, agent: string): string {
  return hashOf(othersNotes(task, agent).map(keyOf));
}

function othersNotes({notes}: Task, agent: string): Note[] {
  return notes.filter(({who}) => who !== agent);
}

/** Notes are mostly appended. If older ones were changed, all count as new. */
function newNotes(task: Task, agent: string, told: string): readonly Note[] {
  const notes = othersNotes(task, agent);
  const known = notes.findIndex((_, i) => hashOf(notes.slice(0, i).map(keyOf)) === told);
  return notes.slice(Math.max(known, 0));
}

function keyOf({time, who, text}: Note): (string | null)[] {
  return [time ?? null, who ?? null, text.replace(/\s+/g, ' ').trim()];
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8);
}
