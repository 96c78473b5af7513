import {hasErrors} from '../../src/formats/common/diagnostic.ts';
import {kindOf} from '../../src/formats/common/key.ts';
import {parseSession, type Session} from '../../src/formats/session/session.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import type {RunCommand} from './agents.ts';
import {PERSON, type SimulatedGit} from './git.ts';

export interface EndState {
  files: ReadonlyMap<string, Buffer>;
  git: SimulatedGit;
  runs: ReadonlyMap<string, readonly RunCommand[]>;
  written: ReadonlyMap<string, string>;
  removed: ReadonlySet<string>;
  decisions: ReadonlyMap<string, ReadonlySet<'approve' | 'reject'>>;
  approved: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What must hold at the end of every history, and does not. */
export function violations(end: EndState): string[] {
  const sessions = sessionsIn(end);
  return [
    ...lostLines(end),
    ...wrongRuns(end),
    ...wrongSessions(sessions),
    ...wrongDeliveries(end, sessions),
    ...wrongChildren(sessions),
    ...wrongFiles(end),
    ...wrongAuthors(end),
    ...dirtyFiles(end),
  ];
}

function sessionsIn({files}: EndState): Map<string, Session> {
  const found = new Map<string, Session>();
  for (const [path, bytes] of files) if (kindOf(path) === 'session') found.set(path, parseSession(bytes.toString()));
  return found;
}

/** 1. Nothing that a person wrote is lost. */
function lostLines({files, written, removed}: EndState): string[] {
  const everything = [...files]
    .filter(([path]) => kindOf(path) !== undefined)
    .map(([, bytes]) => bytes.toString())
    .join('\n');
  const there = new Set(everything.match(/\b[wib]\d+\b/g));
  return [...written].flatMap(([word, path]) =>
    there.has(word) || removed.has(word) ? [] : [`lost: ${word}, which the person wrote into ${path}`],
  );
}

/** 3, 5. Once or ask; what is approved is what runs. */
function wrongRuns({runs, decisions, approved}: EndState): string[] {
  const wrong: string[] = [];
  for (const [command, all] of runs) {
    const needsApproval = command.startsWith('ask-');
    // After a git revert or reset of its session, a call that ran asks again, and may run once more for each yes.
    const most = (needsApproval ? 0 : 1) + (approved.get(command)?.size ?? 0);
    if (all.length > Math.max(1, most)) wrong.push(`${command} ran ${all.length} times`);
    if (!needsApproval) continue;
    const said = decisions.get(command);
    if (!said?.has('approve')) wrong.push(`${command} ran ${said?.has('reject') ? 'after a no' : 'without a yes'}`);
  }
  return wrong;
}

/** 4. History is valid for the model, and nobody waits unseen. */
function wrongSessions(sessions: ReadonlyMap<string, Session>): string[] {
  const wrong: string[] = [];
  for (const [path, {header, messages, problems}] of sessions) {
    if (hasErrors(problems)) {
      wrong.push(`${path} has errors: ${problems[0]?.message}`);
      continue;
    }
    const open = new Map<string, string | undefined>();
    for (const {role, tool_calls, tool_call_id} of messages) {
      if (role === 'tool_result') {
        if (!open.delete(tool_call_id ?? '')) wrong.push(`${path}: a result of ${tool_call_id} that nobody waits for`);
        continue;
      }
      if (open.size > 0 && role === 'assistant') wrong.push(`${path}: no result of ${[...open.keys()].join(', ')}`);
      if (role === 'assistant') open.clear();
      for (const call of tool_calls ?? []) open.set(call.id, call.started);
    }
    if (/^(?:sleeping|completed|closed|stopped)$/.test(header?.status ?? '') && open.size > 0)
      wrong.push(`${path} rests, and ${[...open.keys()].join(', ')} has no result`);
    if (header?.status === 'active' || header?.status === undefined || header.status === 'error')
      wrong.push(`${path} is ${header?.status ?? 'not filled in'} at the end: ${header?.error ?? 'stuck'}`);
    if (header?.status === 'waiting') wrong.push(`${path} waits at the end, though everything was decided`);
    const last = messages.at(-1);
    if (header?.status === 'sleeping' && last?.role === 'user') wrong.push(`${path}: the last message has no answer`);
  }
  return wrong;
}

/** Every message, task and inbox line is delivered once. */
function wrongDeliveries({files, written, removed}: EndState, sessions: ReadonlyMap<string, Session>): string[] {
  const wrong: string[] = [];
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  for (const {messages} of sessions.values())
    for (const {delivery, role, content} of messages) {
      if (delivery !== undefined) count(`delivery ${delivery}`);
      if (role === 'user') for (const word of content?.match(/\bi\d+\b/g) ?? []) count(word);
    }
  const rejected = files.get('inbox/rejected/log.jsonl')?.toString() ?? '';
  for (const line of rejected.split('\n')) count(/\bb\d+\b/.exec(line)?.[0] ?? 'no word');
  counts.delete('no word');
  for (const [what, n] of counts) if (n > 1) wrong.push(`${what} came ${n} times`);
  for (const [word, path] of written)
    if (path.startsWith('inbox/') && !counts.has(word) && !removed.has(word)) wrong.push(`${word} was never delivered`);
  return wrong;
}

/** A call that gives a task has one session for it, which has one result and owes it to nobody. */
function wrongChildren(sessions: ReadonlyMap<string, Session>): string[] {
  const wrong: string[] = [];
  const byCall = new Map<string, string>();
  for (const [path, {header}] of sessions) {
    if (!header?.parent) continue;
    const call = `${header.parent.session} ${header.parent.call}`;
    if (byCall.has(call)) wrong.push(`${path} and ${byCall.get(call)} do the task of one call: ${call}`);
    byCall.set(call, path);
    if (header.result === undefined) wrong.push(`${path} has no result at the end`);
    if (header.result_due) wrong.push(`${path} still owes its result`);
  }
  return wrong;
}

function wrongFiles({files}: EndState): string[] {
  return [...files].flatMap(([path, bytes]) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (name.startsWith('.agentdir-')) return [`${path} was left behind`];
    if (kindOf(path) !== 'tasks') return [];
    const {problems} = parseTasks(bytes.toString());
    return hasErrors(problems) ? [`${path} has errors: ${problems[0]?.message}`] : [];
  });
}

/** 8. The first commit that has a word is by whoever wrote the word. What the person commits by hand is theirs to sort out. */
function wrongAuthors({git, written}: EndState): string[] {
  const wrong: string[] = [];
  const known = new Set<string>();
  for (const {id, parent, tree, author, subject, byHand, trailers} of [...git.commits.values()]) {
    const before = parent ? git.tree(parent) : undefined;
    for (const [path, {blob}] of tree) {
      if (before?.get(path)?.blob === blob) continue;
      const words =
        git.blobs
          .get(blob)
          ?.toString()
          .match(/\b[aw]\d+\b/g) ?? [];
      for (const word of new Set(words)) {
        if (known.has(word)) continue;
        known.add(word);
        if (byHand !== undefined || path.startsWith('conflicts/')) continue;
        // What agents were told has words of the person's in it.
        if (word.startsWith('w') && written.get(word) !== path) continue;
        const isPersons = author.email === PERSON.email;
        if (isPersons !== word.startsWith('w'))
          wrong.push(
            `${word} in ${path} was committed as ${isPersons ? "the person's" : `${author.name}'s`}: ${id.slice(0, 7)} ${subject} (${trailers.map(each => each.join('=')).join(' ')})`,
          );
      }
    }
  }
  return wrong;
}

/** 8. The journal is complete. */
function dirtyFiles({git}: EndState): string[] {
  return git.dirty().map(path => `${path} is not as the journal has it`);
}
