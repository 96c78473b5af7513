import {type Problem, problem} from '../files/diagnostic.ts';
import type {ItemFact, PageFact} from './approval-facts.ts';
import type {Look} from './look.ts';
import {isAgent, namesSeen} from './names.ts';
import {hasSessionFile} from './sessions.ts';

/**
 * Items that nobody waits for any more, and decisions that differ between the two places. Once the daemon has recorded a
 * decision, a re-saved page of that id is ignored.
 */
export function checkItems(path: string, items: readonly ItemFact[], look: Look): Problem[] {
  return items.flatMap(item => checkItem(path, item, look));
}

function checkItem(path: string, item: ItemFact, look: Look): Problem[] {
  const {id, decision, agent, session} = item;
  const say = (code: Problem['code'], message: string, hint: string) => [problem(code, item, message, hint, path)];
  if (id === null)
    return say('ORPHANED_APPROVAL', 'expected an id, found none: no call waits for this item', 'remove it');
  const page = look.named(`page/${id}`).at(-1);
  if (decision && page?.state && decision !== page.state)
    return say(
      'DECISIONS_DIFFER',
      `"${id}" is ${decision} here and ${page.state} in ${page.path}`,
      'make both the same; until then nothing runs',
    );
  if (decision) return [];
  if (agent !== null && !isAgent(agent, namesSeen(look)))
    return say(
      'ORPHANED_APPROVAL',
      `"${id}" was asked by "${agent}", which has no template`,
      `restore templates/${agent}.agent.yaml, or reject it: [-]`,
    );
  if (session !== null && !hasSessionFile(session, look))
    return say(
      'ORPHANED_APPROVAL',
      `"${id}" belongs to the session "${session}", which does not exist`,
      'restore the session file, or reject it: [-]',
    );
  if (session === null && !page)
    return say(
      'ORPHANED_APPROVAL',
      `"${id}" has neither a session nor approvals/pending/${id}.approval.md: no call waits for it`,
      'reject it: [-]',
    );
  return [];
}

/** A pending page that has no item. One whose title is not its name has that problem alone. */
export function checkPage(path: string, {id, misnamed}: PageFact, look: Look): Problem[] {
  if (id === null || misnamed || look.named(`item/${id}`).length > 0) return [];
  return [
    problem(
      'ORPHANED_APPROVAL',
      {line: 1, column: 1},
      `"${id}" has no item in tasks/approvals.task.md: no call waits for it`,
      'move it to approvals/rejected/',
      path,
    ),
  ];
}
