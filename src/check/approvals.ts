import {type Problem, problem} from '../formats/common/diagnostic.ts';
import {type ItemFact, type PageFact, SOUND_QUEUE} from './approval-facts.ts';
import type {Look} from './look.ts';
import {isAgent, namesSeen} from './names.ts';
import {hasSessionFile} from './sessions.ts';

/**
 * Report items that no call waits for, and decisions that differ between queue and page. Once a decision is recorded, a
 * page that is saved again is ignored.
 */
export function checkItems(path: string, items: readonly ItemFact[], look: Look): Problem[] {
  const names = namesSeen(look);
  const known = new Map<string, boolean>();
  const knows = (agent: string) => {
    const is = known.get(agent) ?? isAgent(agent, names);
    known.set(agent, is);
    return is;
  };
  return items.flatMap(item => checkItem(path, item, look, knows));
}

function checkItem(path: string, item: ItemFact, look: Look, knows: (agent: string) => boolean): Problem[] {
  const {id, decision, agent, session} = item;
  const say = (code: Problem['code'], message: string, hint: string) => [problem(code, item, message, hint, path)];
  if (id === null)
    return say('ORPHANED_APPROVAL', 'expected an id, found none: no call waits for this item', 'remove it');
  // Look up the page only if needed: every lookup adds a watch, and there may be very many items.
  const page = decision || session === null ? look.named(`page/${id}`).at(-1) : undefined;
  if (decision && page?.state && decision !== page.state)
    return say(
      'DECISIONS_DIFFER',
      `"${id}" is ${decision} here and ${page.state} in ${page.path}`,
      'make both the same; until then nothing runs',
    );
  if (decision) return [];
  if (agent !== null && !knows(agent))
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

/**
 * Report a pending page without a queue item. A misnamed page already has its own problem. While the queue is missing or
 * has errors, its items are unknown, so nothing is reported.
 */
export function checkPage(path: string, {id, misnamed}: PageFact, look: Look): Problem[] {
  if (id === null || misnamed || look.named(`item/${id}`).length > 0 || look.named(SOUND_QUEUE).length === 0) return [];
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
