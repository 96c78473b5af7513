import {fieldOf, idsIn, parentId, type Task, taintIn} from '../formats/task/task.ts';
import {notesText} from './note-text.ts';

/** A part of a task's content. `as`: how it is delivered. */
export interface TaskStatement {
  label: string;
  text: string;
  as: 'line' | 'title' | 'details' | 'notes';
}

/**
 * Everything that is delivered of a task (`assignmentWords`). A person who approves the start sees exactly this, and the
 * approval is bound to it: the names of these keys are part of approval digests.
 */
export interface Assignment {
  id: string;
  said: readonly TaskStatement[];
  /** Sources of outside text that led to the task. */
  taint: readonly string[];
}

export function assignmentOf(task: Task, file: string): Assignment {
  const id = fieldOf(task, 'id') ?? '';
  const waitedFor = idsIn(fieldOf(task, 'depends_on'));
  const attempt = Number(fieldOf(task, 'attempt') ?? 1);
  const said: [TaskStatement['as'], string, string | undefined][] = [
    ['line', 'Id', id],
    ['title', 'Title', task.title],
    ['line', 'Created by', fieldOf(task, 'created_by') ?? 'a person'],
    ['line', 'Priority', task.priority],
    ['line', 'Due', fieldOf(task, 'due')],
    ['line', 'Part of', parentId(task)],
    ['line', 'Depends on', waitedFor.length > 0 ? `${waitedFor.join(', ')} (all completed)` : undefined],
    ['line', 'File', file],
    ['line', 'Try', attempt > 1 ? `${attempt}, it was given back` : undefined],
    ['details', 'Prompt', fieldOf(task, 'prompt')],
    ['details', 'Description', fieldOf(task, 'description')],
    ['details', 'Reason', fieldOf(task, 'reason')],
    ['details', 'Notes', fieldOf(task, 'notes')],
    ['notes', 'Notes so far', task.notes.length > 0 ? notesText(task.notes) : undefined],
  ];
  return {id, taint: taintIn(task), said: said.flatMap(([as, label, text]) => (text ? [{as, label, text}] : []))};
}
