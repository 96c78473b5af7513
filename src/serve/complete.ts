import {randomBytes} from 'node:crypto';
import {parseFile} from '../check/parse-file.ts';
import {UserError} from '../errors.ts';
import {hasErrors} from '../files/diagnostic.ts';
import {stemOf} from '../files/key.ts';
import type {Outcome} from '../queue.ts';
import type {Completed} from '../reconcile/complete.ts';
import {completeSession, isComplete, type SessionTemplate} from '../reconcile/session.ts';
import {completeTasks} from '../reconcile/task.ts';
import {linkTarget, readHomeFile} from '../store/read.ts';
import {recordOwn} from './record.ts';
import type {Seen} from './seen.ts';
import type {Serving} from './serving.ts';
import {take} from './state.ts';
import {replaceText} from './write.ts';

const WAIT_MS = 500;

/** Fill in what a person left out. The file has no errors. */
export async function complete(serving: Serving, seen: Seen): Promise<Outcome> {
  const trouble = `complete ${seen.path}`;
  let completed: Completed | undefined;
  try {
    // A file that is kept elsewhere is read, and never written.
    completed = linkTarget(serving.home, seen.path) === undefined ? decide(serving, seen) : undefined;
    serving.troubles.set(trouble, undefined);
  } catch (error) {
    // An edit that would lose a comment or change how other lines are read is refused, and left to the person.
    if (!(error instanceof UserError || error instanceof RangeError)) throw error;
    serving.troubles.set(trouble, `${seen.path} cannot be completed: ${error.message}`);
  }
  // A rebase or merge does not go on over files that change meanwhile.
  if (completed && serving.journal.unfinished()) return {after: WAIT_MS};
  if (completed) {
    const written = await replaceText(serving, seen, completed.text);
    if ('outcome' in written) return written.outcome;
    take(serving, written.seen);
    recordOwn(serving, written.seen, completed, 'fill-in');
  }
  const known = serving.known.get(seen.path);
  if (known) known.settled = true;
  serving.unsaved = true;
  return undefined;
}

/** Whether it is plain, from the file alone, that nothing is left to fill in. */
export function leavesNothing({path, parsed, facts}: Seen): boolean {
  if (hasErrors(facts.problems)) return false;
  if (parsed?.kind === 'session') return path.startsWith('sessions/archive/') || isComplete(parsed.file);
  return parsed?.kind !== 'tasks';
}

/** Pure but for the template it looks up. */
function decide(serving: Serving, seen: Seen): Completed | undefined {
  const {path, parsed} = seen;
  const now = new Date().toISOString();
  if (parsed?.kind === 'tasks') return completeTasks(parsed.file, {now, newId});
  if (parsed?.kind !== 'session' || leavesNothing(seen)) return undefined;
  const agent = parsed.file.header?.agent_id;
  return completeSession(parsed.file, {
    id: stemOf(path),
    template: agent ? templateOf(serving, agent) : undefined,
    now,
  });
}

/** 60 random bits, in letters and digits that are hard to misread. */
function newId(): string {
  const letters = '0123456789abcdefghjkmnpqrstvwxyz';
  return `task-${[...randomBytes(12)].map(byte => letters[byte % 32]).join('')}`;
}

function templateOf({index, home}: Serving, agent: string): SessionTemplate | undefined {
  const name = agent.split('@')[0] ?? agent;
  const path = index.definitionsOf(`agent/${name}`)[0]?.path;
  const read = path === undefined ? undefined : readHomeFile(home, path);
  const parsed = path !== undefined && read && 'text' in read ? parseFile(path, read.text) : undefined;
  const value = parsed?.kind === 'template' ? parsed.file.value : undefined;
  return value && {type: value.type, model: value.model, system_prompt: value.system_prompt};
}
