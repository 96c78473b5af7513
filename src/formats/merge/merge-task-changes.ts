import {type Box, fieldOf, type Note, stateOfBox, type Task, type TaskState} from '../task/task.ts';

/** Fields that a stale text never undoes: the daemon acted on these, or they are decisions. */
export const lastingFields: ReadonlySet<string> = new Set([
  'id',
  'assigned',
  'started',
  'completed',
  'session',
  'attempt',
  'notified',
  'parts_done',
  'mentioned',
  'informed',
  'withdrawn',
  'approval',
  'result',
  'status',
  'approved_by',
  'approved_at',
  'rejected_by',
  'rejected_at',
  'rejection_reason',
  'answer',
  'signature',
  'executed_at',
  'outcome',
  'digest',
]);

/** Fields that the daemon writes into every new task; useless without the task. */
const filledIn: ReadonlySet<string> = new Set(['id', 'created', 'created_by']);

export interface TaskChanges {
  box: Box | undefined;
  /** `now` undefined: removed. */
  fields: {key: string; was: string | undefined; now: string | undefined}[];
  notes: Note[];
  /** Title, priority, names or tags changed. */
  head: boolean;
}

export function taskChanges(was: Task, now: Task): TaskChanges {
  const keys = new Set([...was.fields, ...now.fields].map(field => field.key));
  const fields = [...keys].flatMap(key => {
    const change = {key, was: fieldOf(was, key), now: fieldOf(now, key)};
    return change.was === change.now ? [] : [change];
  });
  const old = was.notes.map(noteKey);
  const notes = now.notes.filter(note => {
    const at = old.indexOf(noteKey(note));
    if (at !== -1) old.splice(at, 1);
    return at === -1;
  });
  return {box: now.box === was.box ? undefined : now.box, fields, notes, head: headKey(was) !== headKey(now)};
}

function noteKey(note: Note): string {
  return `${note.time} ${note.who} ${note.text.trimEnd()}`;
}

function headKey(task: Task): string {
  return [task.priority ?? '', task.names.join(' '), task.tags.join(' '), task.title].join('\n');
}

export function isEmptyChange(changes: TaskChanges): boolean {
  return changes.box === undefined && changes.fields.length === 0 && changes.notes.length === 0 && !changes.head;
}

/** Whether nothing would be missed if the task were gone. */
export function onlyFilledIn(changes: TaskChanges, was: Task): boolean {
  // Times that follow from a box that the person set.
  const follows = (key: string) =>
    (key === 'completed' && was.state === 'completed') || (key === 'started' && was.state === 'in_progress');
  const {box, notes, fields} = changes;
  return box === undefined && notes.length === 0 && fields.every(({key}) => filledIn.has(key) || follows(key));
}

/** Without a common base, keep only what the daemon's version has in addition. */
export function onlyAdditions({fields, notes}: TaskChanges): TaskChanges {
  const more = fields.filter(({key, was, now}) => now !== undefined && (was === undefined || lastingFields.has(key)));
  return {box: undefined, fields: more, notes, head: false};
}

/** Changes that apply to the person's task; what both changed is added to `conflicts`. */
export function settleChanges(
  changes: TaskChanges,
  base: Task,
  person: Task,
  daemon: Task,
  conflicts: string[],
): TaskChanges {
  const name = `task "${person.title}"`;
  const fields = changes.fields.filter(({key, was, now}) => {
    const own = fieldOf(person, key);
    if (own === now) return false;
    if (own === was) return true;
    const lasting = lastingFields.has(key);
    const kept = lasting ? `"${now ?? ''}" stays, not "${own ?? ''}"` : `"${own ?? ''}" is kept, not "${now ?? ''}"`;
    conflicts.push(`${name}: ${key} was changed on both sides; ${kept}`);
    return lasting;
  });
  const has = new Set(person.notes.map(noteKey));
  const head = changes.head && headKey(person) !== headKey(daemon);
  if (head && headKey(person) !== headKey(base))
    conflicts.push(`${name}: the title line was changed on both sides; yours is kept`);
  return {
    box: settleBox(changes.box, base, person, daemon, conflicts),
    fields,
    notes: changes.notes.filter(note => !has.has(noteKey(note))),
    head: head && headKey(person) === headKey(base),
  };
}

function settleBox(box: Box | undefined, base: Task, person: Task, daemon: Task, conflicts: string[]): Box | undefined {
  if (box === undefined || person.box === box || person.state === stateOfBox[box]) return undefined;
  if (person.box === base.box) return box;
  if (!isApproval(daemon) && endsWork(person.state, stateOfBox[box])) return undefined;
  const keep = isPersons(person, daemon);
  const [kept, not] = keep ? [person.box ?? ' ', box] : [box, person.box ?? ' '];
  conflicts.push(`task "${person.title}": the box was set on both sides; [${kept}] stays, not [${not}]`);
  return keep ? undefined : box;
}

/** A person may finish what an agent has started or cannot do, whether seen or not. Finished tasks stay finished. */
function endsWork(person: TaskState, daemon: TaskState): boolean {
  if (daemon === 'in_progress') return person !== 'pending';
  return daemon === 'blocked' && (person === 'completed' || person === 'skipped');
}

function isApproval(task: Task): boolean {
  return fieldOf(task, 'approval_type') !== undefined || fieldOf(task, 'type') === 'approval_request';
}

/** The person's box wins for an approval that has not run: always while pending, later only to reject. */
function isPersons(person: Task, daemon: Task): boolean {
  if (!isApproval(daemon)) return false;
  if (['started', 'executed_at', 'outcome'].some(key => fieldOf(daemon, key) !== undefined)) return false;
  return (fieldOf(daemon, 'status') ?? 'pending') === 'pending' || person.state === 'skipped';
}
