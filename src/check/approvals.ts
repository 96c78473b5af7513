import {type Problem, problem} from '../files/diagnostic.ts';
import {stemOf} from '../files/key.ts';
import {sessionText} from '../files/session.ts';
import {fieldOf} from '../files/task.ts';
import {placeOf, readYaml} from '../files/yaml-source.ts';
import type {Home} from './home.ts';
import {isAgent, type Names} from './names.ts';

/** Approvals that nobody waits for any more, and decisions that differ between the two places. */
export function checkApprovals(home: Home, names: Names): Problem[] {
  const problems: Problem[] = [];
  const sessions = new Set(home.sessions.map(({path}) => stemOf(path)));
  const files = new Map(
    home.approvals
      .filter(({path}) => path.startsWith('approvals/pending/'))
      .map(({path, file}) => [file.id ?? stemOf(path), {path, file}] as const),
  );
  const items = new Set<string>();
  for (const {path, item} of home.queue) {
    const {task} = item;
    const say = (code: Problem['code'], message: string, hint: string) =>
      problems.push(problem(code, {line: task.line, column: task.column + 1}, message, hint, path));
    if (item.id === undefined) {
      say('ORPHANED_APPROVAL', 'expected an id, found none: no call waits for this item', 'remove it');
      continue;
    }
    items.add(item.id);
    const file = files.get(item.id);
    // Once the daemon has recorded a decision, a re-saved page of that id is ignored.
    const other = (item.status ?? 'pending') === 'pending' ? file?.file.review?.decision : undefined;
    if (item.decision && other && item.decision !== other) {
      say(
        'DECISIONS_DIFFER',
        `"${item.id}" is ${item.decision} here and ${other} in ${file?.path}`,
        'make both the same; until then nothing runs',
      );
    }
    if (item.decision || (item.status ?? 'pending') !== 'pending') continue;
    const session = fieldOf(task, 'session');
    if (item.agent !== undefined && !isAgent(item.agent, names))
      say(
        'ORPHANED_APPROVAL',
        `"${item.id}" was asked by "${item.agent}", which has no template`,
        `restore templates/${item.agent}.agent.yaml, or reject it: [-]`,
      );
    else if (session !== undefined && !sessions.has(session))
      say(
        'ORPHANED_APPROVAL',
        `"${item.id}" belongs to the session "${session}", which does not exist`,
        'restore the session file, or reject it: [-]',
      );
    else if (session === undefined && !file)
      say(
        'ORPHANED_APPROVAL',
        `"${item.id}" has neither a session nor approvals/pending/${item.id}.approval.md: no call waits for it`,
        'reject it: [-]',
      );
  }
  problems.push(...waitingForNothing(home, items));
  for (const {path, file} of home.approvals) {
    if (!path.startsWith('approvals/pending/') || file.id === undefined) continue;
    if (file.id !== stemOf(path))
      problems.push(
        problem(
          'NAME_MISMATCH',
          {line: 1, column: 1},
          `expected the id "${stemOf(path)}" as in the file name, got "${file.id}"`,
          'restore the title or the file name',
          path,
        ),
      );
    else if (!items.has(file.id))
      problems.push(
        problem(
          'ORPHANED_APPROVAL',
          {line: 1, column: 1},
          `"${file.id}" has no item in tasks/approvals.task.md: no call waits for it`,
          'move it to approvals/rejected/',
          path,
        ),
      );
  }
  return problems;
}

/** Calls that wait for an approval which is in no queue: they would wait for ever. */
function waitingForNothing(home: Home, items: ReadonlySet<string>): Problem[] {
  return home.sessions.flatMap(({path, file}) => {
    const answered = new Set(file.messages.map(message => message.tool_call_id));
    return file.messages.flatMap((message, index) =>
      (message.tool_calls ?? []).flatMap((call, i) => {
        if (call.approval === undefined || call.started || answered.has(call.id) || items.has(call.approval)) return [];
        const source = readYaml(sessionText(file));
        const place = placeOf(source, ['messages', index, 'tool_calls', i, 'approval']);
        return [
          problem(
            'ORPHANED_APPROVAL',
            place,
            `the call waits for "${call.approval}", which is not in tasks/approvals.task.md`,
            'restore the item: git log -p tasks/approvals.task.md, or remove "approval:" so that it asks again',
            path,
          ),
        ];
      }),
    );
  });
}
