import type {With} from '../agents/state/parts.ts';
import {hasUndeliveredNews, isAtWork} from '../agents/turns/at-work.ts';
import type {SessionFact} from '../check/session-facts.ts';
import {blocks} from '../formats/common/diagnostic.ts';
import type {Run} from '../formats/run.ts';
import {parseSession} from '../formats/session/session.ts';
import {versionText} from '../loop/accept-version.ts';
import type {HomeFiles} from '../loop/home-files.ts';

export type RunState = Pick<Run, 'status'> & {error?: string; waiting_for?: string[]};

/**
 * The state of an instance, from its sessions. `failed` wins: a turn that failed is never taken for an end. `idle` means that nothing is
 * under way or due, in delegated sessions neither. While sessions only wait for a person, the instance is running, and `waiting_for` names
 * them.
 */
export async function stateOf(
  daemon: With<'files' | 'mail' | 'current'>,
  run: Pick<Run, 'instance' | 'status'>,
  hasDueMentions: boolean,
): Promise<RunState> {
  const {files} = daemon;
  const sessions = sessionsOf(files, run.instance);
  const failures: string[] = [];
  const waiting: string[] = [];
  let working = hasDueMentions;
  for (const path of sessions) {
    const facts = files.index.facts(path);
    const {session} = facts ?? {};
    if (facts && !session && blocks(facts.problems)) failures.push(`${path} has errors; see agentdir check`);
    else if (!session || session.segment) continue;
    else if (session.status === 'error') failures.push(await failureOf(files, path, session));
    else if (waitsForPerson(session)) waiting.push(session.id);
    else if (isAtWork(daemon, path)) {
      if (await daemon.current.hold(session.agent)) waiting.push(session.id);
      // Whether a session that waits for its children is at work is up to them.
      else if (session.status !== 'waiting' || daemon.mail.has(path) || openChildren(files, session.id).length === 0)
        working = true;
    }
    for (const child of session ? openChildren(files, session.id) : []) {
      const fact = files.index.facts(child)?.session;
      if (fact && (waitsForPerson(fact) || (await daemon.current.hold(fact.agent)))) waiting.push(fact.id);
      else working = true;
    }
  }
  if (failures.length > 0) return {status: 'failed', error: failures.join('\n')};
  if (!working && waiting.length === 0) {
    for (const path of sessions) if (await hasNews(files, path)) working = true;
  }
  if (working) return {status: 'running'};
  return waiting.length > 0 ? {status: 'running', waiting_for: waiting.sort()} : {status: 'idle'};
}

/** Delegated sessions (`reviewer.pr-123.1`, `.2`, …) that have not ended, or whose result the session does not have yet. */
function openChildren({index}: HomeFiles, parent: string): string[] {
  const open: string[] = [];
  for (let n = 1; ; n++) {
    const [defined] = index.definitionsOf(`session/${parent}.${n}`);
    if (!defined) return open;
    const {child} = index.facts(defined.path)?.session ?? {};
    if (child?.parent === parent && (!child.ended || child.due)) open.push(defined.path);
  }
}

export function statusWords({status, error, waiting_for: waiting}: RunState): string {
  if (waiting) return `waits for a person: ${waiting.slice(0, 3).join(', ')}`;
  return error === undefined ? status : `${status}: ${error.split('\n')[0]}`;
}

function sessionsOf({index}: HomeFiles, instance: string): string[] {
  const folder = `sessions/${instance}/`;
  return [...index.paths()].filter(path => path.startsWith(folder));
}

/** An approval, a raised limit or a pause. A session that waits for one that does a task for it is at work. */
function waitsForPerson({status, waits, waitingFor}: SessionFact): boolean {
  if (status === 'paused') return true;
  return status === 'waiting' && (waits.length > 0 || waitingFor === undefined || waitingFor.startsWith('budget-'));
}

async function failureOf(files: HomeFiles, path: string, {agent}: SessionFact): Promise<string> {
  const {header} = (await sessionAt(files, path)) ?? {};
  const {error} = header ?? {};
  const words = typeof error === 'string' ? error : (error as {message?: unknown} | undefined)?.message;
  return `${agent}: ${typeof words === 'string' && words.trim() !== '' ? words : 'its session is in error'}`;
}

/** Whether an answer in the session has still to reach others. */
async function hasNews(files: HomeFiles, path: string): Promise<boolean> {
  const session = await sessionAt(files, path);
  return session !== undefined && hasUndeliveredNews(session);
}

async function sessionAt(files: HomeFiles, path: string): Promise<ReturnType<typeof parseSession> | undefined> {
  const kept = files.caches.snapshots.get(path)?.parsed;
  if (kept?.kind === 'session') return kept.file;
  const blob = files.known.get(path)?.blob;
  const text = blob === undefined ? undefined : await versionText(files, blob, path);
  return text === undefined ? undefined : parseSession(text);
}
