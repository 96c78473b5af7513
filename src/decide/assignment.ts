import {taintIn} from '../formats/task/taint-field.ts';
import {fieldOf, idsIn, parentId, type Task} from '../formats/task/task.ts';
import {notesText} from './note-text.ts';

/** Something that a task says. `as`: how it is delivered. */
export interface TaskStatement {
  label: string;
  text: string;
  as: 'line' | 'title' | 'details' | 'notes';
}

/**
 * All that a task says to whoever is to do it. The person who lets it start is shown this and the answer is bound to it; of
 * the task nothing else is delivered (`assignmentWords`).
 */
export interface Assignment {
  id: string;
  said: readonly TaskStatement[];
  /** What from outside led to it. */
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
    ['line', 'Depended on', waitedFor.length > 0 ? `${waitedFor.join(', ')} (all completed)` : undefined],
    ['line', 'File', file],
    ['line', 'Try', attempt > 1 ? `${attempt}, it was given back` : undefined],
    ['details', 'Prompt', fieldOf(task, 'prompt')],
    ['details', 'Description', fieldOf(task, 'description')],
    ['details', 'Reason', fieldOf(task, 'reason')],
    ['notes', 'Notes so far', task.notes.length > 0 ? notesText(task.notes) : undefined],
  ];
  return {id, taint: taintIn(task), said: said.flatMap(([as, label, text]) => (text ? [{as, label, text}] : []))};
}
